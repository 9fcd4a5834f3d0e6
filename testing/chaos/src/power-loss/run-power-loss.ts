import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BankLedger } from '../crash-points/bank-ledger.ts'
import { startBank } from '../crash-points/bank-process.ts'
import { compileShim, type Shim } from './compile-shim.ts'
import { type CutReport, CutRun } from './cut-run.ts'
import { ACCOUNTS, Load } from './load.ts'
import type { PoweredStore } from './powered-store.ts'
import { Random } from './random.ts'

export interface PowerLossOptions {
  readonly store: PoweredStore
  readonly cuts: number
  readonly acknowledgedPerCut: number
  readonly seed: number
  readonly isLying?: boolean
  readonly failsSyncs?: boolean
  readonly loadMsMin?: number
}

export type PowerLossResult = CutReport | (Shim & { readonly type: 'missing' })

/** One run in a folder and with a bank of its own, both of which it takes away again. */
export async function runPowerLoss({
  store,
  cuts,
  acknowledgedPerCut,
  seed,
  isLying = false,
  failsSyncs = false,
  loadMsMin,
}: PowerLossOptions): Promise<PowerLossResult> {
  const folder = mkdtempSync(join(tmpdir(), 'counterstep-power-loss-'))
  try {
    const shim = await compileShim(folder)
    if (shim.type === 'missing') return shim
    const bankFile = join(folder, 'bank.db')
    const bank = await startBank(bankFile, ACCOUNTS)
    const ledger = new BankLedger(bankFile)
    try {
      const random = new Random(seed)
      const load = new Load(bank.url, random)
      const parts = { store, shimPath: shim.path, folder, load, ledger, random, cuts, acknowledgedPerCut }
      return await new CutRun({ ...parts, isLying, failsSyncs, loadMsMin }).run()
    } finally {
      ledger.close()
      await bank.stop()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
