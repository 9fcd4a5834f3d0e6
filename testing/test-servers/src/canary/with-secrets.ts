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

/** Returns the same branch with secrets in the queries of its URLs, in a payload that has members, and in a header. */
export function withBranchSecrets<Branch extends object>(branch: Branch): Branch {
  const members = Object.entries(branch).map(([name, value]) => [
    name,
    URLS.has(name) && typeof value === 'string' ? withSecretQuery(value) : value,
  ])
  const { payload = {}, headers } = branch as { readonly payload?: unknown; readonly headers?: object }
  const hasMembers = typeof payload === 'object' && payload !== null && !('body' in branch)
  return {
    ...Object.fromEntries(members),
    ...(hasMembers ? { payload: { ...payload, secret: canary('payload') } } : {}),
    headers: { ...headers, 'x-branch-secret': canary('header-of-branch') },
  }
}

function withSecretQuery(url: string): string {
  return `${url}${url.includes('?') ? '&' : '?'}token=${canary('query')}`
}
