import { resolveTemplate } from './resolve-template.ts'
import { type Fault, findResources, type Properties, type Resource, type Template } from './template.ts'

const SECRET = 'arn:aws:secretsmanager:us-east-1:111122223333:secret:keys'

/** Checks that callers are authenticated under all parameters, even under those that the template's rules refuse. */
export function checkOpenness(template: Template): Fault[] {
  const { Face, Authorization } = template.Parameters
  return (Face?.AllowedValues ?? []).flatMap((face) =>
    (Authorization?.AllowedValues ?? []).flatMap((authorization) =>
      ['', SECRET].flatMap((KeysSecretArn) => {
        const parameters = { Face: String(face), Authorization: String(authorization), KeysSecretArn }
        return findOpenings(template, parameters).map((detail) => ({ rule: 'never-open', detail }))
      }),
    ),
  )
}

function findOpenings(template: Template, parameters: Readonly<Record<string, string>>): readonly string[] {
  const { Resources, environments } = resolveTemplate(template, parameters)
  const variables = environments.ApiFunction ?? {}
  const asksForKeys = variables.COUNTERSTEP_KEYS_SECRET === SECRET
  const guards = [
    ...findGuards(Resources, 'AWS::Lambda::Url', 'AuthType'),
    ...findGuards(Resources, 'AWS::ApiGatewayV2::Route', 'AuthorizationType'),
  ]
  const found: string[] = []
  if (guards.length !== 1) found.push(`it has ${guards.length} HTTP endpoints`)
  for (const guard of guards) {
    if (guard === 'NONE' && !asksForKeys) found.push('no part checks who calls')
    const wanted = guard === 'NONE' ? undefined : guard === 'JWT' ? 'jwt' : 'iam'
    if (variables.COUNTERSTEP_AUTHORIZER !== wanted) found.push(`api is told of another guard than ${guard}`)
    if (guard === 'JWT' && !hasAuthorizer(Resources)) found.push('JWT without an authorizer')
  }
  if (variables.COUNTERSTEP_INSECURE_NO_KEYS !== undefined) found.push('api is told to let every caller in')
  return [...found, ...findLoosePermissions(Resources, asksForKeys)].map(
    (detail) => `${detail} (${Object.values(parameters).join(', ')})`,
  )
}

function findGuards(
  Resources: Readonly<Record<string, Resource>>,
  type: string,
  property: string,
): unknown[] {
  return findResources({ Resources }, type).map(([, { Properties }]) => Properties[property] ?? 'NONE')
}

function hasAuthorizer(Resources: Readonly<Record<string, Resource>>): boolean {
  const [route] = findResources({ Resources }, 'AWS::ApiGatewayV2::Route')
  const { Ref } = (route?.[1].Properties.AuthorizerId ?? {}) as { readonly Ref?: string }
  return Ref !== undefined && Resources[Ref]?.Type === 'AWS::ApiGatewayV2::Authorizer'
}

/** Lists the permissions to invoke a function that let more callers in than they must. */
function findLoosePermissions(
  Resources: Readonly<Record<string, Resource>>,
  asksForKeys: boolean,
): readonly string[] {
  return findResources({ Resources }, 'AWS::Lambda::Permission')
    .filter(([, { Properties }]) => !isBounded(Properties, asksForKeys))
    .map(([name]) => `${name} lets more in than it must`)
}

function isBounded(properties: Properties, asksForKeys: boolean): boolean {
  const { Principal, SourceArn, FunctionUrlAuthType, InvokedViaFunctionUrl } = properties
  if (Principal === '*')
    return asksForKeys && (FunctionUrlAuthType === 'NONE' || InvokedViaFunctionUrl === true)
  return SourceArn !== undefined && JSON.stringify(SourceArn).includes(`\${HttpApi}/*/$default`)
}
