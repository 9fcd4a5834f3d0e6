import { join } from 'node:path'
import { BankLedger } from '../crash-points/bank-ledger.ts'
import { startBank } from '../crash-points/bank-process.ts'
import { type CutReport, CutRun } from './cut-run.ts'
import { ACCOUNTS, Load } from './load.ts'
import type { PoweredStore } from './powered-store.ts'
import { Random } from './random.ts'
import { type MissingShim, withShim } from './with-shim.ts'

export interface PowerLossOptions {
  readonly store: PoweredStore
  readonly cuts: number
  readonly acknowledgedPerCut: number
  readonly seed: number
  readonly isLying?: boolean
  readonly failsSyncs?: boolean
  readonly loadMsMin?: number
}

export type PowerLossResult = CutReport | MissingShim

/** One run in a folder and with a bank of its own, both of which it takes away again. */
export function runPowerLoss({
  store,
  cuts,
  acknowledgedPerCut,
  seed,
  isLying = false,
  failsSyncs = false,
  loadMsMin,
}: PowerLossOptions): Promise<PowerLossResult> {
  return withShim(async (folder, shimPath) => {
    const bankFile = join(folder, 'bank.db')
    const bank = await startBank(bankFile, ACCOUNTS)
    const ledger = new BankLedger(bankFile)
    try {
      const random = new Random(seed)
      const load = new Load(bank.url, random)
      const parts = { store, shimPath, folder, load, ledger, random, cuts, acknowledgedPerCut }
      return await new CutRun({ ...parts, isLying, failsSyncs, loadMsMin }).run()
    } finally {
      ledger.close()
      await bank.stop()
    }
  })
}
