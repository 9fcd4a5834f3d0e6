// This process writes until it is killed, and prints each acknowledgement: `created <gid>`, `finished <gid>`.

import { cpSync } from 'node:fs'
import { dirname } from 'node:path'
import { isCounterstepError } from '@counterstep/protocol'
import { canary } from '@counterstep/test-servers/canary'
import { openSqliteStore } from '../src/open-sqlite-store.ts'
import { aTransaction, makeFinish } from './transactions.ts'

const COPY_AT = 100

const [path = '', round = '0', callers = '16', copyTo = ''] = process.argv.slice(2)

const definition = JSON.stringify({ headers: { authorization: canary('header') } })

try {
  const store = await openSqliteStore({ path })
  process.stdout.write('opened\n')
  let count = 0
  const write = async () => {
    while (Number(callers) > 0) {
      count += 1
      const transaction = aTransaction(`${round}-${count}`, { definition })
      await store.create(transaction)
      process.stdout.write(`created ${transaction.gid}\n`)
      await store.update(makeFinish(transaction))
      process.stdout.write(`finished ${transaction.gid}\n`)
      if (count === COPY_AT && copyTo !== '') copyFolder()
    }
  }
  // Closing the copied files ends the locks of this process.
  const copyFolder = () => {
    cpSync(dirname(path), copyTo, { recursive: true })
    process.stdout.write('copied\n')
  }
  await Promise.all(Array.from({ length: Number(callers) }, write))
} catch (error: unknown) {
  process.stdout.write(`refused ${isCounterstepError(error) ? error.code : ''} ${String(error)}\n`)
  process.exit(1)
}
