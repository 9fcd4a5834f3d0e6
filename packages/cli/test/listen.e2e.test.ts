import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '@counterstep/test-servers/until'
import { expect, it, onTestFinished } from 'vitest'
import { ServeProcess } from './serve-process.ts'
import { countUnaccepted } from './unaccepted.ts'

/** Node lets 511 wait if it is not told another number. */
const CONNECTIONS = 1_000
const STOP_MS_MAX = 10_000
/** Linux lets no more wait than this setting says. It is there on Linux alone. */
const SYSTEM_BOUND = '/proc/sys/net/core/somaxconn'
const isAllowed = existsSync(SYSTEM_BOUND) && Number(readFileSync(SYSTEM_BOUND, 'utf8')) >= CONNECTIONS

it.runIf(isAllowed)('S41: A thousand connections may wait to be accepted on each port', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'listen-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const ports = ['--dtm-port', '0', '--dtm-grpc-port', '0']
  const { process: server } = await ServeProcess.listening(folder, ...ports)
  const ready = server.stdout.find((line) => line.startsWith('{"url":')) ?? '{}'
  const { url, dtmUrl, dtmGrpcUrl } = JSON.parse(ready)
  server.signal('SIGSTOP')
  await until('it is stopped', STOP_MS_MAX, async () => {
    const status = await readFile(`/proc/${server.pid}/status`, 'utf8')
    return status.includes('State:\tT')
  })
  for (const each of [url, dtmUrl, dtmGrpcUrl]) {
    const port = Number(new URL(each).port)
    expect(await countUnaccepted(port, CONNECTIONS), each).toBe(CONNECTIONS)
  }
  server.signal('SIGCONT')
  server.signal('SIGTERM')
  expect(await server.ended()).toMatchObject({ code: 0 })
})
