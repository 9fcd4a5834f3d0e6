import { join } from 'node:path'
import type { ComposeProject } from '../compose/load-project.ts'
import {
  type Container,
  type ContainerOptions,
  type Mount,
  makeVolume,
  runContainer,
} from '../image/container.ts'
import type { RootFileSystem } from '../image/root-file-system.ts'
import { StartedContainers } from '../image/started-containers.ts'
import { getService } from './compose-stores.ts'
import type { Roots } from './embedded-world.ts'

/** The keys are host:port of the compose network. The value is the port of 127.0.0.1 that stands for it here. */
export type Ports = ReadonlyMap<string, number>

/**
 * Runs services of the compose file in the network of this machine, with its volumes, secrets, variables and commands.
 * Only their addresses differ: `bank-a:8471` is a free port of 127.0.0.1.
 */
export class ComposeServices {
  readonly #project: ComposeProject
  readonly #roots: Roots
  readonly #folder: string
  readonly #ports: Ports
  readonly #containers = new StartedContainers()

  constructor(project: ComposeProject, roots: Roots, folder: string, ports: Ports) {
    this.#project = project
    this.#roots = roots
    this.#folder = folder
    this.#ports = ports
  }

  start(name: string): Container {
    return this.#containers.start(this.#getRoot(name), this.#makeOptions(name))
  }

  /** Ends all services that were started. */
  end(): Promise<void> {
    return this.#containers.end()
  }

  /** Runs a service that ends by itself. Returns what it has printed. */
  async run(name: string): Promise<string> {
    const { code, output } = await runContainer(this.#getRoot(name), this.#makeOptions(name))
    if (code !== 0) throw new Error(`${name} ended with ${code}: ${output}`)
    return output
  }

  #getRoot(name: string): RootFileSystem {
    const { image } = getService(this.#project, name)
    return image.startsWith('counterstep-examples:') ? this.#roots.examples : this.#roots.orchestrator
  }

  #makeOptions(name: string): ContainerOptions {
    const { entrypoint, command, environment = {} } = getService(this.#project, name)
    const env = Object.entries(environment).map(([key, value]) => [key, this.#replaceAddresses(value)])
    return {
      ...(entrypoint === null ? {} : { entrypoint }),
      ...(command === null ? {} : { command: command.map((word) => this.#toLocalWord(name, word)) }),
      env: { ...Object.fromEntries(env), ...this.#buildPortVariables(name) },
      mounts: [...this.#listVolumes(name), ...this.#listSecrets(name)],
    }
  }

  #listVolumes(name: string): Mount[] {
    const volumes = getService(this.#project, name).volumes ?? []
    return volumes.map(({ type, source, target, read_only = false }) =>
      type === 'bind'
        ? { source, target, readOnly: read_only }
        : { ...makeVolume(this.#getRoot(name), join(this.#folder, source), target), readOnly: read_only },
    )
  }

  #listSecrets(name: string): Mount[] {
    return (getService(this.#project, name).secrets ?? []).map(({ source }) => ({
      source: this.#project.secrets[source]?.file ?? '',
      target: `/run/secrets/${source}`,
      readOnly: true,
    }))
  }

  #replaceAddresses(text: string): string {
    return [...this.#ports].reduce(
      (changed, [address, port]) => changed.replaceAll(address, `127.0.0.1:${port}`),
      text,
    )
  }

  #toLocalWord(name: string, word: string): string {
    if (word === '0.0.0.0') return '127.0.0.1'
    return String(this.#ports.get(`${name}:${word}`) ?? word)
  }

  #buildPortVariables(name: string): Record<string, string> {
    const port = this.#ports.get(`${name}:8470`)
    return port === undefined ? {} : { COUNTERSTEP_PORT: String(port), COUNTERSTEP_DTM_PORT: 'off' }
  }
}
