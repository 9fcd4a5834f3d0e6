/** Compares what a fuzzed server stores with what it answered, by a report of all requests (HAR, as browsers write it). */
import { readFile } from 'node:fs/promises'
import type { TransactionPage } from '@counterstep/protocol'

/** The fields of HAR 1.2 that are read here. */
interface HarReport {
  readonly log: { readonly entries: readonly HarEntry[] }
}

interface HarEntry {
  readonly request: { readonly method: string; readonly url: string }
  readonly response: { readonly status: number; readonly content: { readonly text?: string } }
}

export interface StoredFaults {
  /** The number of accepted transactions that were compared. */
  readonly accepted: number
  readonly faults: readonly string[]
}

/** A transaction must be stored if and only if a submit of it was answered with 2xx. */
export async function compareWithAnswers(reportFile: string, serverUrl: string): Promise<StoredFaults> {
  const report = JSON.parse(await readFile(reportFile, 'utf8')) as HarReport
  const accepted = new Set(report.log.entries.flatMap(readAcceptedGid))
  const stored = await listStored(serverUrl)
  const lost = [...accepted].filter((gid) => !stored.has(gid))
  const unasked = [...stored].filter((gid) => !accepted.has(gid))
  return {
    accepted: accepted.size,
    faults: [
      ...lost.map((gid) => `${gid} was accepted and is not stored`),
      ...unasked.map((gid) => `${gid} is stored and was never accepted`),
    ],
  }
}

function readAcceptedGid({ request, response }: HarEntry): readonly string[] {
  const { pathname } = new URL(request.url)
  const isAccepted = response.status >= 200 && response.status < 300
  if (request.method !== 'POST' || pathname !== '/v1/transactions' || !isAccepted) return []
  const { gid } = JSON.parse(response.content.text ?? '') as { readonly gid: string }
  return [gid]
}

async function listStored(serverUrl: string): Promise<ReadonlySet<string>> {
  const stored = new Set<string>()
  let cursor: string | undefined
  do {
    const query = new URLSearchParams({ limit: '200', ...(cursor === undefined ? {} : { cursor }) })
    const response = await fetch(`${serverUrl}/v1/transactions?${query}`)
    if (!response.ok) throw new Error(`the list answered ${response.status}`)
    const page = (await response.json()) as TransactionPage
    for (const { gid } of page.items) stored.add(gid)
    cursor = page.cursor
  } while (cursor !== undefined)
  return stored
}
