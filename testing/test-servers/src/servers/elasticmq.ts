import { rm } from 'node:fs/promises'
import { readEnvironment } from '../environment.ts'
import { freePort } from '../free-port.ts'
import { type ElasticmqProgram, elasticmqProgram } from '../install/elasticmq-jars.ts'
import { keptFolder } from '../processes/kept-process.ts'
import { readMessage } from './read-message.ts'
import { type ServerProcess, startServerProcess } from './server-process.ts'

export interface ElasticmqServer extends ServerProcess {
  readonly port: number
  /** The endpoint for a client of SQS: http://127.0.0.1:PORT. */
  readonly url: string
}

/** The queues of tests need little memory. Without a bound Java takes a quarter of the machine. */
const HEAP = ['-Xmx256m', '-XX:+UseSerialGC']
/** Its start costs more than its work for the tests: 1.6 CPU seconds, and 2.5 with the optimising compiler. */
const QUICK_START = ['-XX:TieredStopAtLevel=1']

/** Starts a server that speaks SQS. Its queues live in memory: `restart` and `kill` lose them. */
export async function startElasticmq(): Promise<ElasticmqServer> {
  const { command, classPath } = await findElasticmq()
  const folder = await keptFolder('elasticmq')
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  try {
    const server = await startServerProcess({
      name: 'elasticmq',
      folder,
      command,
      args: [...HEAP, ...QUICK_START, `-Djava.io.tmpdir=${folder}`, '-cp', classPath, 'Main', String(port)],
      waitingFor: () => waitingForQueues(url),
    })
    return { ...server, port, url }
  } catch (error: unknown) {
    await rm(folder, { recursive: true, force: true })
    throw error
  }
}

/** Finds or fetches ElasticMQ. Throws ServerMissingError with the reason if there is none. */
export async function findElasticmq(): Promise<ElasticmqProgram> {
  const { cacheFolder, searchPath } = readEnvironment()
  return await elasticmqProgram(cacheFolder, searchPath)
}

async function waitingForQueues(url: string): Promise<string | undefined> {
  try {
    const response = await fetch(`${url}/?Action=ListQueues`)
    await response.text()
    return response.ok ? undefined : `status ${response.status}`
  } catch (error: unknown) {
    return readMessage(error)
  }
}
