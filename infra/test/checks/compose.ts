import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '@counterstep/test-servers'
import type { CheckList } from '../check-list.ts'
import { type ComposeProject, explainMissingCompose, loadProject } from '../compose/load-project.ts'
import { waitUntilReady } from '../image/wait-until-ready.ts'
import { ComposeServices } from './compose-services.ts'
import {
  type RunningStore,
  runGrant,
  startComposeMysql,
  startComposePostgres,
  startComposeRedis,
} from './compose-stores.ts'
import type { Roots } from './embedded-world.ts'

const REDIS = {
  COUNTERSTEP_STORE: 'redis://counterstep@redis:6379',
  COUNTERSTEP_STORE_PASSWORD_SECRET: 'redis-counterstep-password',
}
const POSTGRES = {
  COUNTERSTEP_STORE: 'postgres://counterstep@postgres:5432/counterstep',
  COUNTERSTEP_STORE_PASSWORD_SECRET: 'postgres-counterstep-password',
}
const BANKS = ['bank-a', 'bank-b'] as const

export interface ComposePlaces {
  readonly root: string
  /** The built programs are kept in this folder. */
  readonly kept: string
  readonly folder: string
}

export async function checkCompose(list: CheckList, roots: Roots, places: ComposePlaces): Promise<void> {
  const reason = explainMissingCompose()
  if (reason !== undefined) {
    list.skip('the compose file', reason)
    return
  }
  const isSound = await list.check('Docker Compose takes the compose file', async () => {
    await loadProject(places.root, places.kept)
    return undefined
  })
  if (!isSound) return
  await list.check('its services run the demo on MySQL', async () => {
    const project = await loadProject(places.root, places.kept)
    const mysql = await startComposeMysql(project)
    return await playDemo(roots, { ...places, folder: join(places.folder, 'on-mysql') }, project, mysql)
  })
  await list.check('its services run the demo on PostgreSQL', async () => {
    const project = await loadProject(places.root, places.kept, POSTGRES)
    const postgres = await startComposePostgres(project)
    return await playDemo(roots, { ...places, folder: join(places.folder, 'on-postgres') }, project, postgres)
  })
  await list.check('its services run the demo on Redis', async () => {
    const project = await loadProject(places.root, places.kept, REDIS)
    const folder = join(places.folder, 'on-redis')
    mkdirSync(folder)
    const redis = await startComposeRedis(project, places.root, folder)
    return await playDemo(roots, { ...places, folder }, project, redis)
  })
}

async function playDemo(
  roots: Roots,
  { root, folder }: ComposePlaces,
  project: ComposeProject,
  store: RunningStore,
): Promise<string> {
  const ports = new Map([
    ['mysql:3306', store.port],
    ['postgres:5432', store.port],
    ['redis:6379', store.port],
  ])
  for (const address of ['bank-a:8471', 'bank-b:8471', 'orchestrator:8470'])
    ports.set(address, await freePort())
  const services = new ComposeServices(project, roots, folder, ports)
  const [scheme] = project.services.orchestrator?.environment?.COUNTERSTEP_STORE?.split(':') ?? []
  const banks = BANKS.map((name) => services.start(name))
  try {
    await services.run('keys')
    if (scheme === 'mysql') {
      await services.run('migrate')
      await runGrant(project, root, 'grant', { MYSQL_HOST: '127.0.0.1', MYSQL_TCP_PORT: String(store.port) })
    }
    if (scheme === 'postgres') {
      await services.run('migrate-postgres')
      await runGrant(project, root, 'grant-postgres', { PGHOST: '127.0.0.1', PGPORT: String(store.port) })
    }
    for (const [index, bank] of banks.entries()) {
      await waitUntilReady(bank, `http://127.0.0.1:${ports.get(`${BANKS[index]}:8471`)}/health`)
    }
    const orchestrator = services.start('orchestrator')
    const readyMs = await waitUntilReady(
      orchestrator,
      `http://127.0.0.1:${ports.get('orchestrator:8470')}/health/ready`,
    )
    await services.run('demo')
    // The compose file says that the demo may run again.
    const told = await services.run('demo')
    await checkScrape(join(folder, 'orchestrator', 'metrics.key'), ports.get('orchestrator:8470'))
    await orchestrator.signal('SIGTERM')
    const { code } = await orchestrator.ended
    if (code !== 0) throw new Error(`the orchestrator ended with ${code}: ${orchestrator.output()}`)
    return `ready after ${Math.round(readyMs)} ms; ${told.trim().split('\n').at(-1)}`
  } finally {
    await services.end()
    await store.stop()
  }
}

/** Asks for the metrics as Prometheus does in the profile `observability`, which is not run here. */
async function checkScrape(keyFile: string, port: number | undefined): Promise<void> {
  const authorization = `Bearer ${readFileSync(keyFile, 'utf8').trim()}`
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`, { headers: { authorization } })
  const text = await answer.text()
  if (!text.includes('counterstep_ready 1'))
    throw new Error(`the key of Prometheus was answered ${answer.status}`)
}
