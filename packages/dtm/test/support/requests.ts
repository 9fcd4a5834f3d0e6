import { canary } from '@counterstep/test-servers/canary'
import type { PlayedBranches } from './branch-service.ts'

/** No answer may show these values. */
const SECRETS = { branch_headers: { authorization: canary('header') } }

/** Builds a saga of `count` steps, which calls `/a1`, `/c1`, `/a2`, …. */
export function saga(gid: string, branches: PlayedBranches, count: number, more: object = {}) {
  const steps = Array.from({ length: count }, (_, step) => ({
    action: `${branches.url}/a${step + 1}`,
    compensate: `${branches.url}/c${step + 1}`,
  }))
  return { gid, trans_type: 'saga', steps, payloads: steps.map(() => '{}'), ...SECRETS, ...more }
}

export function tcc(gid: string, more: object = {}) {
  return { gid, trans_type: 'tcc', ...SECRETS, ...more }
}

export function tccBranch(gid: string, branches: PlayedBranches, id: string, more: object = {}) {
  const { url } = branches
  const urls = { confirm: `${url}/confirm${id}`, cancel: `${url}/cancel${id}` }
  return { gid, trans_type: 'tcc', branch_id: id, data: '{}', ...urls, ...more }
}

export function message(gid: string, actions: readonly string[], more: object = {}) {
  const steps = actions.map((action) => ({ action }))
  return { gid, trans_type: 'msg', steps, payloads: steps.map(() => '{}'), ...SECRETS, ...more }
}

export function listPaths({ calls }: PlayedBranches): readonly string[] {
  return calls.map(({ target }) => target.split('?', 1)[0] ?? '')
}
