import { findNameFault } from '../targets/named-service.ts'
import type { TargetRules } from '../targets/target-policy.ts'
import { type Refusal, readServiceUrl } from '../targets/target-url.ts'
import type { InProcessBranch, InProcessServices } from './in-process-branch.ts'

/** A name below `.invalid` is resolved nowhere (RFC 6761), so no call that should stay in this process can leave it. */
const HOST_ENDING = '.in-process.invalid'

/** Finds the functions that are branches of this process. */
export class InProcessDirectory {
  readonly #services: ReadonlyMap<string, ReadonlyMap<string, InProcessBranch>>

  /** Throws a TypeError that says what is wrong with the services. */
  constructor(services: InProcessServices) {
    this.#services = new Map(
      Object.entries(services).map(([name, branches]) => [name, readBranches(name, branches)]),
    )
  }

  get isEmpty(): boolean {
    return this.#services.size === 0
  }

  /** Adds the services to those of the rules, each with an origin of its own. Throws a TypeError for a name that the rules have. */
  addTo(rules: TargetRules): TargetRules {
    const names = [...this.#services.keys()]
    const taken = names.find((name) => rules.services.some((service) => service.name === name))
    if (taken !== undefined) throw new TypeError(`branches.${taken} is a service at a URL, too`)
    const own = names.map((name) => {
      const hostname = name + HOST_ENDING
      return { name, origin: `http://${hostname}`, hostname, base: '' }
    })
    return { ...rules, services: [...rules.services, ...own] }
  }

  /** Tells whether a stored URL names a service of this process. */
  serves(url: string): boolean {
    const named = readServiceUrl(url)
    return named !== undefined && this.#services.has(named.service)
  }

  /** Refuses a URL of a service of this process that has no branch at that path. */
  check(url: string): Refusal | undefined {
    if (!this.serves(url) || this.find(url) !== undefined) return undefined
    return {
      code: 'SAGA_TARGET_NOT_ALLOWED',
      message: 'names no branch that its service has in this process',
    }
  }

  /** The path counts as it is written. One that a parser would read in another way is the path of no branch. */
  find(url: string): InProcessBranch | undefined {
    const named = readServiceUrl(url)
    return named && this.#services.get(named.service)?.get(named.rest.replace(/[?#].*$/s, ''))
  }
}

function readBranches(
  name: string,
  branches: Readonly<Record<string, InProcessBranch>>,
): ReadonlyMap<string, InProcessBranch> {
  const fault = findNameFault(name)
  if (fault !== undefined)
    throw new TypeError(`branches has the service ${JSON.stringify(name)}, which ${fault}`)
  const entries = Object.entries(typeof branches === 'object' && branches !== null ? branches : {})
  if (entries.length === 0)
    throw new TypeError(
      `branches.${name} must have a function for each path: { '/reserve': async (call) => … }`,
    )
  for (const [path, branch] of entries) {
    if (!/^\/(?!\/)/.test(path) || URL.parse(`http://${name}${HOST_ENDING}${path}`)?.pathname !== path)
      throw new TypeError(
        `branches.${name} has ${JSON.stringify(path)}, which is no plain path such as /reserve`,
      )
    if (typeof branch !== 'function') throw new TypeError(`branches.${name} has no function for ${path}`)
  }
  return new Map(entries)
}
