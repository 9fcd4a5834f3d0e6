import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '@counterstep/test-servers'
import { BranchRepeater, type CallFates } from '../bank/network/branch-repeater.ts'
import { OwnProcess } from '../bank/processes/own-process.ts'
import type { DeathPoint } from './service/ordered-death.ts'
import type { PlantedFault } from './service/planted-fault.ts'
import type { RunNote } from './service/run-note.ts'

const ORDER_MS_MAX = 10_000
const PROGRAM = join(import.meta.dirname, 'service/main.ts')

export interface ParticipantsSpec {
  readonly logFolder: string
  readonly database: string
  readonly servers: readonly string[]
  readonly fates: CallFates
  readonly fault: PlantedFault
}

/** The participants' process, and the network before it. */
export interface Participants {
  readonly process: OwnProcess
  /** The URL that leads through the network. */
  readonly url: string
  readonly repeater: BranchRepeater
  /** Tells the process where to die. */
  orderDeath(point: DeathPoint): Promise<void>
  readNotes(): Promise<readonly RunNote[]>
}

export async function startParticipants(spec: ParticipantsSpec): Promise<Participants> {
  const { logFolder, database, servers, fates, fault } = spec
  const notes = join(logFolder, 'workflow-notes.log')
  await writeFile(notes, '')
  const port = await freePort()
  const directUrl = `http://127.0.0.1:${port}`
  const repeater = await BranchRepeater.start(directUrl, fates)
  const url = `http://127.0.0.1:${repeater.port}`
  const options = { port, database, url, servers: servers.join(','), notes, fault }
  const process = await OwnProcess.start({
    name: 'participants',
    args: [PROGRAM, ...Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)])],
    log: join(logFolder, 'participants.log'),
    readyUrl: `${directUrl}/live`,
  })
  return {
    process,
    url,
    repeater,
    async orderDeath(point) {
      const order = { method: 'POST', body: point, signal: AbortSignal.timeout(ORDER_MS_MAX) }
      const response = await fetch(`${directUrl}/deaths`, order)
      if (!response.ok) throw new Error(`the participants answer an order with ${response.status}`)
      await response.arrayBuffer()
    },
    async readNotes() {
      const lines = (await readFile(notes, 'utf8')).trimEnd().split('\n')
      return lines.flatMap((line) => (line === '' ? [] : [JSON.parse(line) as RunNote]))
    },
  }
}
