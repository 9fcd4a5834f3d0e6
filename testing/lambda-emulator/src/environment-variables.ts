import { type FunctionSpec, REGION } from './function-spec.ts'

/** AWS's client needs some credentials, and the emulated services accept any. */
const CREDENTIALS = {
  AWS_ACCESS_KEY_ID: 'emulated',
  AWS_SECRET_ACCESS_KEY: 'emulated',
  AWS_SESSION_TOKEN: 'emulated',
}

/** Builds the variables of an environment. Those of AWS override the function's own, except for the credentials. */
export function buildEnvironmentVariables(
  spec: FunctionSpec,
  environment: number,
  runtimeApi: string,
): Readonly<Record<string, string>> {
  return {
    ...CREDENTIALS,
    ...spec.variables,
    PATH: '/usr/local/bin:/usr/bin:/bin',
    LANG: 'en_US.UTF-8',
    TZ: ':UTC',
    _HANDLER: spec.handler,
    LAMBDA_TASK_ROOT: spec.taskRoot,
    AWS_REGION: REGION,
    AWS_DEFAULT_REGION: REGION,
    AWS_EXECUTION_ENV: `AWS_Lambda_nodejs${process.versions.node.split('.')[0]}.x`,
    AWS_LAMBDA_FUNCTION_NAME: spec.name,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(spec.memoryMb),
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${spec.name}`,
    AWS_LAMBDA_LOG_STREAM_NAME: `[$LATEST]${environment}`,
    AWS_LAMBDA_RUNTIME_API: runtimeApi,
  }
}
