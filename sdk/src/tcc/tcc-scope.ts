import type { TccBranchRequest } from '@counterstep/protocol'
import { CounterstepError } from '../errors.ts'
import type { CallOptions } from '../options.ts'
import { sendAgain } from '../send-again.ts'
import type { Setup } from '../setup.ts'
import { toJson } from '../to-json.ts'
import { readTransaction, transactionPath } from '../transaction.ts'
import type { RegisteredBranch, TccBranch, TccScope } from './tcc-types.ts'
import { parseTryUrl, tryBranch } from './try-branch.ts'

export interface ScopeSettings {
  readonly gid: string
  /** Of the participant that has this share; empty for the whole. */
  readonly parentId: string
  readonly headers?: Readonly<Record<string, string>>
  /** Of a try, as of every other call. */
  readonly timeoutMs?: number
}

export function tccScope(setup: Setup, { gid, parentId, headers, timeoutMs }: ScopeSettings): TccScope {
  const idOf = createBranchIds(gid, parentId)
  const register = async (branch: Omit<TccBranch, 'try'>, options: CallOptions = {}) =>
    registerBranch(setup, gid, toRegistration(branch, idOf(branch.id)), options)
  return {
    gid,
    register,
    try: async (branch, options = {}) => {
      const { parse } = branch
      const url = parseTryUrl(branch.try)
      const registered = await register(branch, options)
      const answer = await tryBranch(setup.fetch, {
        branch,
        registered,
        url,
        headers: { ...headers, ...branch.headers },
        answerBytesMax: setup.answerBytesMax,
        timeoutMs: branch.timeoutMs ?? timeoutMs ?? setup.timeoutMs,
        signal: options.signal,
      })
      // Without `parse` the caller has said what the answer is, and answers for it.
      return parse === undefined ? (answer as never) : parse(answer)
    },
  }
}

/** What of a branch the server knows: how it is tried is no matter of its. */
function toRegistration(
  branch: Omit<TccBranch, 'try'> & { readonly try?: string },
  id: string,
): TccBranchRequest {
  const { try: _try, parse: _parse, ...registration } = branch
  return { ...registration, id }
}

/** The same branch again is there once, so that a lost answer is made good by another attempt. */
function registerBranch(
  { send, serverCount, timeoutMs, retryForMs }: Setup,
  gid: string,
  branch: TccBranchRequest,
  { signal, ...options }: CallOptions,
): Promise<RegisteredBranch> {
  const path = `${transactionPath(gid)}/branches`
  const request = { method: 'POST', path, body: toJson(branch, gid), timeoutMs, signal, gid } as const
  const persistence = { retryForMs: options.retryForMs ?? retryForMs, serverCount, signal }
  return sendAgain(async () => {
    const { createdAt } = readTransaction(await send(request), gid)
    return { gid, branchId: branch.id, acceptedAt: createdAt }
  }, persistence)
}

const CHILDREN_MAX = 99

/** Ids as DTM's clients make them: two digits behind the parent's, so that a nested TCC keeps apart from its siblings. */
function createBranchIds(gid: string, parentId: string): (id: string | undefined) => string {
  const taken = new Set<string>()
  let last = 0
  const next = (): string => {
    if (last === CHILDREN_MAX) {
      const message = `${gid} has ${CHILDREN_MAX} branches behind "${parentId}" already`
      throw new CounterstepError('SAGA_TOO_MANY_BRANCHES', message, { meaning: 'failure', gid })
    }
    last += 1
    return `${parentId}${String(last).padStart(2, '0')}`
  }
  return (given) => {
    let id = given ?? next()
    while (given === undefined && taken.has(id)) id = next()
    taken.add(id)
    return id
  }
}
