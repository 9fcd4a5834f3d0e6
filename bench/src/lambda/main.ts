import { parseArgs } from 'node:util'
import { measureFunctions } from './measure-functions.ts'

const USAGE = 'npm run bench:lambda -- [--store mysql|redis] [--json]'

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', default: false },
    store: { type: 'string', default: 'mysql' },
    json: { type: 'boolean', default: false },
  },
})
if (values.help) {
  process.stdout.write(`${USAGE}\n`)
  process.exit(0)
}
if (values.store !== 'mysql' && values.store !== 'redis') throw new Error('--store is mysql or redis')
const rows = await measureFunctions(values.store, (line) => process.stderr.write(`${line}\n`))
process.stdout.write(`${values.store}, Node ${process.version}, aws-lambda-ric, one environment at a time\n`)
for (const { name, what, coldMs, warmMs, roundTrips, rssMb } of rows) {
  const cold = coldMs === undefined ? '' : `cold ${coldMs} ms, `
  process.stdout.write(
    `${name}, ${what}: ${cold}warm ${warmMs} ms, ${roundTrips.toFixed(2)} packets to the store, ${rssMb} MB\n`,
  )
}
if (values.json) process.stdout.write(`${JSON.stringify({ store: values.store, rows })}\n`)

// All is stopped and told. Node's own clean-up has been seen to spin over sockets that a proxy had closed.
process.exit()
