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
  /** The id of the branch under which this nested TCC runs. It is empty for the outermost TCC. */
  readonly parentId: string
  readonly headers?: Readonly<Record<string, string>>
  /** The time limit of a try, and of every other call. */
  readonly timeoutMs?: number
  /** Is called before the scope numbers a branch. What it throws refuses that branch. */
  readonly claimNumbers?: () => void
}

export function tccScope(setup: Setup, { headers, timeoutMs, ...settings }: ScopeSettings): TccScope {
  const { gid } = settings
  const toBranchId = createBranchIds(settings)
  const register = async (branch: Omit<TccBranch, 'try'>, options: CallOptions = {}) =>
    registerBranch(setup, gid, toRegistration(branch, toBranchId(branch.id)), options)
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
      // Without `parse` the caller has stated the type of the answer, and is responsible for it.
      return parse === undefined ? (answer as never) : parse(answer)
    },
  }
}

/** Returns the part of a branch that the server knows. The server does not need to know how the branch is tried. */
function toRegistration(
  branch: Omit<TccBranch, 'try'> & { readonly try?: string },
  id: string,
): TccBranchRequest {
  const { try: _try, parse: _parse, ...registration } = branch
  return { ...registration, id }
}

/**
 * Registers a branch. The server keeps a branch that is sent twice only once, so an attempt whose answer was lost can
 * be repeated.
 */
function registerBranch(
  { send, serverCount, timeoutMs, retryForMs }: Setup,
  gid: string,
  branch: TccBranchRequest,
  { signal, ...options }: CallOptions,
): Promise<RegisteredBranch> {
  const path = `${transactionPath(gid)}/branches`
  const request = { method: 'POST', path, body: toJson(branch, gid), timeoutMs, signal, gid } as const
  const repetition = { retryForMs: options.retryForMs ?? retryForMs, serverCount, signal }
  return sendAgain(async () => {
    const { createdAt } = readTransaction(await send(request), gid)
    return { gid, branchId: branch.id, acceptedAt: createdAt }
  }, repetition)
}

const CHILDREN_MAX = 99

/**
 * Makes ids like those of DTM's clients: the parent's id and two digits. A branch of the nested TCC `01` is `0101`, and
 * so it never has the id of another branch of the outer TCC, such as `02`.
 */
function createBranchIds({
  gid,
  parentId,
  claimNumbers,
}: Pick<ScopeSettings, 'gid' | 'parentId' | 'claimNumbers'>): (id: string | undefined) => string {
  const taken = new Set<string>()
  let last = 0
  const next = (): string => {
    claimNumbers?.()
    if (last === CHILDREN_MAX) {
      const message = `${gid} has ${CHILDREN_MAX} branches under "${parentId}" already`
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
