import { DOCUMENTS_MAX, isDocumentKey } from '@counterstep/core'
import { readGrpcTarget } from '@counterstep/protocol'
import { GRPC, readBranchUrl } from '../definition/branch-url.ts'
import { JSON_RPC } from '../definition/json-rpc.ts'
import { type CheckRules, findRefusal, listRefusals, readPlace } from './judge-transaction.ts'
import { type GetJson, type OldTransaction, readTopics, readTransactions } from './old-dtm.ts'

/** It tells what a switch from a running DTM would meet. */
export interface CheckReport {
  readonly transactions: number
  readonly topics: number
  readonly isCut: boolean
  /** Each reason for which something would be refused, the most frequent one first. */
  readonly refusals: readonly Tally[]
  /** The options with which the server has to be started. */
  readonly needs: readonly Tally[]
  /** The hosts that are called, the most frequent one first. */
  readonly hosts: readonly Tally[]
  readonly unfinished: Tally | undefined
}

export interface Tally {
  readonly text: string
  readonly count: number
  /** The first gid, or the name of the first topic. */
  readonly example: string
}

const FINAL: ReadonlySet<string | undefined> = new Set(['succeed', 'failed'])
const NEW_KINDS: ReadonlySet<string | undefined> = new Set(['xa', 'workflow'])
const NEW_PROTOCOLS: ReadonlySet<string | undefined> = new Set([GRPC, JSON_RPC])

/** Reads a running DTM, and counts what a server with these rules would refuse. It changes nothing there. */
export async function checkOldDtm(
  get: GetJson,
  rules: CheckRules,
  { limit, onProgress }: { readonly limit: number; readonly onProgress: (transactions: number) => void },
): Promise<CheckReport> {
  const [refusals, needs, hosts, unfinished] = [new Tallies(), new Tallies(), new Tallies(), new Tallies()]
  let transactions = 0
  for await (const { transaction, branches } of readTransactions(get, limit)) {
    const { gid = '', status, query_prepared = '' } = transaction
    transactions++
    onProgress(transactions)
    for (const text of await listRefusals(transaction, branches, rules)) refusals.add(text, gid)
    for (const text of listNeeds(transaction)) needs.add(text, gid)
    for (const host of new Set([query_prepared, ...branches.map(({ url = '' }) => url)].map(readPlace)))
      if (host !== '') hosts.add(host, gid)
    if (!FINAL.has(status)) unfinished.add('', gid)
  }
  let topics = 0
  for await (const { name, urls } of readTopics(get)) {
    topics++
    if (!isDocumentKey(name)) refusals.add('a topic must be 1–128 characters that can be seen', name)
    if (topics === DOCUMENTS_MAX + 1) refusals.add(`there are more than ${DOCUMENTS_MAX} topics`, name)
    for (const url of urls) {
      const protocol = readGrpcTarget(url) === undefined ? 'http' : GRPC
      for (const text of findRefusal(() => readBranchUrl(url, { ...rules, protocol }), readPlace(url)))
        refusals.add(text, name)
      hosts.add(readPlace(url), name)
    }
  }
  return {
    ...{ transactions, topics, isCut: transactions >= limit },
    ...{ refusals: refusals.list(), needs: needs.list(), hosts: hosts.list() },
    unfinished: unfinished.list()[0],
  }
}

function listNeeds({ trans_type, protocol }: OldTransaction): readonly string[] {
  return [
    ...(NEW_KINDS.has(trans_type) || NEW_PROTOCOLS.has(protocol) ? ['--accept-new-kinds'] : []),
    ...(protocol === GRPC ? ['--dtm-grpc-port'] : []),
  ]
}

class Tallies {
  readonly #tallies = new Map<string, { count: number; readonly example: string }>()

  add(text: string, example: string): void {
    const known = this.#tallies.get(text)
    if (known === undefined) this.#tallies.set(text, { count: 1, example })
    else known.count++
  }

  list(): readonly Tally[] {
    return [...this.#tallies]
      .map(([text, { count, example }]) => ({ text, count, example }))
      .sort((a, b) => b.count - a.count)
  }
}
