import type { LoadJob, LoadLength } from '../../load/load-job.ts'
import { PAYLOAD } from '../payload.ts'

const BASE = '/api/dtmsvr'

/** A saga of so many branches in DTM's dialect over HTTP; each caller waits for its end. */
export function dtmJob(
  target: string,
  branchUrl: string,
  branches: number,
  unique: string,
  connections: number,
  length: LoadLength,
): LoadJob {
  const numbers = Array.from({ length: branches }, (_, index) => index + 1)
  return {
    url: `${target}${BASE}/submit`,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      gid: unique,
      trans_type: 'saga',
      wait_result: true,
      concurrent: false,
      steps: numbers.map((number) => ({
        action: `${branchUrl}/action-${number}`,
        compensate: `${branchUrl}/compensation-${number}`,
      })),
      // Each is a text that the branch gets as its body.
      payloads: numbers.map(() => JSON.stringify(PAYLOAD)),
      protocol: '',
    }),
    unique,
    expectStatus: 200,
    expect: '"dtm_result":"SUCCESS"',
    connections,
    length,
  }
}

export async function speaksDtm(target: string): Promise<boolean> {
  const response = await fetch(`${target}${BASE}/newGid`)
  return response.ok && (await response.text()).includes('"dtm_result":"SUCCESS"')
}

/** The status of one transaction; undefined when it is not known. */
export async function readDtmStatus(target: string, gid: string): Promise<string | undefined> {
  const response = await fetch(`${target}${BASE}/query?${new URLSearchParams({ gid })}`)
  if (response.status !== 200) throw new Error(`the query of ${gid} answered ${response.status}`)
  const body = (await response.json()) as { readonly transaction: { readonly status?: string } | null }
  return body.transaction?.status
}
