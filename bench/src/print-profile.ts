// node bench/src/print-profile.ts FILE.cpuprofile [FROM_SECONDS [TO_SECONDS]]: where the time of a profiled thread went.
import { readFileSync } from 'node:fs'
import { type Share, summarise } from './profile/top-functions.ts'

const ROWS = 40
const [file, fromSeconds = '2', toSeconds = 'Infinity'] = process.argv.slice(2)
if (file === undefined) throw new Error('name a .cpuprofile')
const summary = summarise(JSON.parse(readFileSync(file, 'utf8')), {
  fromSeconds: Number(fromSeconds),
  toSeconds: Number(toSeconds),
})
const table = (title: string, shares: readonly Share[]) => [
  '',
  title,
  ...shares.slice(0, ROWS).map(({ name, share }) => `${(share * 100).toFixed(1).padStart(5)} %  ${name}`),
]
const lines = [
  `busy ${(summary.busyShare * 100).toFixed(0)} % of the time; shares are of that`,
  ...table('self time by package', summary.packages),
  ...table('self time by function', summary.functions),
  ...table('our functions with all that they call', summary.inclusive),
]
process.stdout.write(`${lines.join('\n')}\n`)
