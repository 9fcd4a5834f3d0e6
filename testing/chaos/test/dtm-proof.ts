import { rm } from 'node:fs/promises'
import { expect } from 'vitest'
import type { DtmResult, DtmSettings } from '../src/dtm/dtm-result.ts'
import { formatDtmResult } from '../src/dtm/print-dtm-result.ts'
import { runDtm } from '../src/dtm/run-dtm.ts'

const SEED = 20_261_127
/** This bound only tells stuck from slow. */
export const RUN_MS_MAX = 300_000

const ignore = () => undefined

/** Runs 90 transactions of XA and of recorded workflows, in which a server and the participants are killed three times each. */
export async function proveDtm(store: DtmSettings['store']): Promise<void> {
  const settings = { store, transactions: 90, kills: 3, seed: SEED, fault: 'none' } as const
  const { result, keptFolder } = await runDtm(settings, { show: ignore, clear: ignore })
  const printed = formatDtmResult(result)
  process.stdout.write(`${printed}\n`)
  expect([...result.violations, ...result.unbitten], `${printed}\nlogs are kept in ${keptFolder}`).toEqual([])
}

/** Runs so many transactions whose participants have a fault that some of each course meet it. */
export async function runPlanted(fault: DtmSettings['fault']): Promise<DtmResult> {
  const settings = { store: 'sqlite', transactions: 150, kills: 0, seed: SEED, fault } as const
  const { result, keptFolder } = await runDtm(settings, { show: ignore, clear: ignore })
  if (keptFolder !== undefined) await rm(keptFolder, { recursive: true, force: true })
  return result
}
