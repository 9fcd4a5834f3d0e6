import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const BANK = fileURLToPath(new URL('../../../../examples/bank/src/main.ts', import.meta.url))
const START_MS_MAX = 60_000

export interface BankProcess {
  readonly url: string
  stop(): Promise<void>
}

/** The example's bank: an account table, the barrier, a ledger of effects and a log of calls, in a database of its own. */
export async function startBank(file: string, accounts: number): Promise<BankProcess> {
  const args = [BANK, '--data', file, '--accounts', String(accounts), '--durability', 'normal']
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const timer = setTimeout(() => child.kill('SIGKILL'), START_MS_MAX)
  const url = await Promise.race([firstUrl(child.stdout), gone])
  clearTimeout(timer)
  if (url === undefined) throw new Error('the bank does not start')
  return {
    url,
    stop: async () => {
      child.kill('SIGKILL')
      await gone
    },
  }
}

function firstUrl(output: NodeJS.ReadableStream): Promise<string> {
  return new Promise((resolve) => {
    createInterface({ input: output }).on('line', (line) => {
      const url = /"url":"(http:\/\/[^"]+)"/.exec(line)?.[1]
      if (url !== undefined) resolve(url)
    })
  })
}
