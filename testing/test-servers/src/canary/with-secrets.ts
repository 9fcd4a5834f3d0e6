import { canary } from './canary.ts'

interface Submit {
  readonly headers?: Readonly<Record<string, string>>
  readonly branches?: readonly object[]
}

const URLS = new Set(['action', 'compensation', 'confirm', 'cancel'])

/** Returns the same submit with a secret in each place where a caller of the native HTTP API may have one. */
export function withSecrets<Body extends Submit>(body: Body): Body {
  const headers = { ...body.headers, 'x-secret': canary('header-of-all') }
  const { branches } = body
  return {
    ...body,
    headers,
    ...(branches === undefined ? {} : { branches: branches.map(withBranchSecrets) }),
  }
}

/** Returns the same branch with secrets in the queries of its URLs, in a content that has members, and in a header. */
export function withBranchSecrets<Branch extends object>(branch: Branch): Branch {
  // A branch that waits has neither a URL nor a content.
  if ('wait' in branch) return branch
  const members = Object.entries(branch).map(([name, value]) => [
    name,
    URLS.has(name) ? withUrlSecrets(value) : value,
  ])
  const { headers } = branch as { readonly headers?: object }
  return {
    ...Object.fromEntries(members),
    ...withContentSecret(branch),
    headers: { ...headers, 'x-branch-secret': canary('header-of-branch') },
  }
}

/** A URL is a text, or an object that has one and, in a compensation, a content and headers of its own. */
function withUrlSecrets(value: unknown): unknown {
  if (typeof value === 'string') return withSecretQuery(value)
  if (typeof value !== 'object' || value === null || !('url' in value)) return value
  const hasContent = 'template' in value || 'payload' in value
  return {
    ...value,
    url: withSecretQuery(String(value.url)),
    ...(hasContent ? withContentSecret(value) : {}),
  }
}

function withContentSecret(request: object): object {
  const name = 'template' in request ? 'template' : 'payload'
  const content = (request as { readonly [name: string]: unknown })[name] ?? {}
  const hasMembers = typeof content === 'object' && content !== null && !('body' in request)
  return hasMembers ? { [name]: { ...content, secret: canary('payload') } } : {}
}

function withSecretQuery(url: string): string {
  return `${url}${url.includes('?') ? '&' : '?'}token=${canary('query')}`
}
