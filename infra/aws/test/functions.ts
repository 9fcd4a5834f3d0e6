import { readFunctionConfig } from '@counterstep/configuration'

/** What `npm run build:functions` makes in functions/dist. */
export const FUNCTION_BUNDLES: readonly string[] = ['api', 'worker', 'sweeper']

const SOUND = {
  COUNTERSTEP_STORE: 'mysql://counterstep@db.example/counterstep',
  COUNTERSTEP_SERVICES: 'bank=https://bank.example',
  COUNTERSTEP_AUTHORIZER: 'iam',
}

/** Whether a function reads the variable, be it only to refuse its value. */
export function isReadByFunctions(variable: string): boolean {
  const read = readFunctionConfig('api', { ...SOUND, [variable]: 'x' })
  return (
    'problems' in read ||
    !read.config.warnings.some((warning) => warning.startsWith(`${variable} is no setting`))
  )
}
