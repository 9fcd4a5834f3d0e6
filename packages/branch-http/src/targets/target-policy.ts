import { copyText, findUrlFault, isGrpcUrl } from '@counterstep/protocol'
import { type AddressClass, classifyAddress } from './address-class.ts'
import type { AddressRange } from './address-range.ts'
import { type AllowedOrigin, matchesHost, matchesOrigin } from './allowed-origin.ts'
import { classifyHost } from './host.ts'
import { buildServiceUrl, type NamedService } from './named-service.ts'
import { type Refusal, readTargetUrl, refuseInvalid, refuseNotation } from './target-url.ts'

export interface TargetRules {
  readonly services: readonly NamedService[]
  readonly allowed: readonly AllowedOrigin[]
  /** Says which URLs may be called that no rule names: none, those of this machine, or all. */
  readonly others: 'none' | 'loopback' | 'any'
  /** If it is true, `any` includes this machine and plain http. It is for a server that only this machine reaches. */
  readonly isLocal: boolean
}

/** Decides where branch calls may go. It is asked at submit, again at the call, and for each connection. */
export interface TargetPolicy {
  /** Returns undefined if the URL may be called over HTTP. It remembers URLs that it has checked. */
  check(url: string): Refusal | undefined
  /** Returns the URL that is called for a URL as it was stored. */
  resolve(url: string): URL | Refusal
  /** Tells whether a connection for that host may go to that address. It does not matter how the address was found. */
  mayReach(hostname: string, address: string): boolean
  /** Tells whether a URL is called without the identity of the call in its query. Absent: none is. */
  isWhole?(url: string): boolean
}

/** It is made of the rules of a configuration. */
export interface RuledTargetPolicy extends TargetPolicy {
  /**
   * Returns the URL to store for a branch over gRPC that is written as `HOST:PORT/PACKAGE.SERVICE/METHOD`: `grpc://…`, or
   * `grpcs://…` where only TLS is allowed. It remembers URLs that it has checked.
   */
  checkGrpc(target: string): string | Refusal
}

const REMEMBERED_MAX = 1_000
const NOT_ALLOWED = 'is no target that the configuration of this server allows'
const NO_SERVICE = refuseNotAllowed('names no service of the configuration of this server')
const NONE: readonly AddressClass[] = []
const LISTED: readonly AddressClass[] = ['public', 'private']
/** A range allows no address of another class, even if its rule did not come from the parser. */
const IN_RANGE: readonly AddressClass[] = ['private']
const LOOPBACK: readonly AddressClass[] = ['loopback']
const ALL: readonly AddressClass[] = ['loopback', ...LISTED]

/** Returns the policy for development, which allows this machine and nothing else. */
export function loopbackTargets(): RuledTargetPolicy {
  return targetPolicy({ services: [], allowed: [], others: 'loopback', isLocal: true })
}

/** `classify` stands in for the table of addresses where a test cannot dial the real ones. */
export function targetPolicy(rules: TargetRules, classify = classifyAddress): RuledTargetPolicy {
  return new RuledPolicy(rules, classify)
}

class RuledPolicy implements RuledTargetPolicy {
  readonly #rules: TargetRules
  readonly #services: ReadonlyMap<string, NamedService>
  readonly #classify: (address: string) => AddressClass
  readonly #origins: readonly Exclude<AllowedOrigin, AddressRange>[]
  readonly #ranges: readonly AddressRange[]
  readonly #good = new Set<string>()
  /** These are as they are stored. None of them may be called over HTTP. */
  readonly #goodGrpc = new Set<string>()

  constructor(rules: TargetRules, classify: (address: string) => AddressClass) {
    this.#rules = rules
    this.#services = new Map(rules.services.map((service) => [service.name, service]))
    this.#classify = classify
    this.#origins = rules.allowed.filter((rule) => rule.type !== 'range')
    this.#ranges = rules.allowed.filter((rule) => rule.type === 'range')
  }

  check(url: string): Refusal | undefined {
    if (this.#good.has(url)) return undefined
    if (isGrpcUrl(url)) return refuseInvalid('must be an absolute http or https URL, or SERVICE:/PATH')
    const resolved = this.isWhole(url) ? NO_SERVICE : (refuseNotation(url) ?? this.resolve(url))
    if (!(resolved instanceof URL)) return resolved
    remember(this.#good, url)
    return undefined
  }

  checkGrpc(target: string): string | Refusal {
    const [open, secure] = [`grpc://${target}`, `grpcs://${target}`]
    if (this.#goodGrpc.has(open)) return open
    if (this.#goodGrpc.has(secure)) return secure
    const resolved = this.#resolveGrpc(open, secure)
    if (!(resolved instanceof URL)) return resolved
    const { href } = resolved
    // A target in another notation is read anew each time.
    if (href === open || href === secure) remember(this.#goodGrpc, href)
    return href
  }

  resolve(text: string): URL | Refusal {
    const url = this.#resolveTarget(text)
    if (!(url instanceof URL)) return url
    // The path and the query are checked as they will be sent: no parameter in them may pass for the identity of the
    // call.
    const fault = findUrlFault(url.pathname + url.search)
    return fault === undefined ? url : refuseInvalid(fault)
  }

  isWhole(text: string): boolean {
    const read = readTargetUrl(text)
    return 'service' in read && this.#services.get(read.service)?.endpoint !== undefined
  }

  mayReach(hostname: string, address: string): boolean {
    return this.#findReach(hostname, address).includes(this.#classify(address))
  }

  #resolveGrpc(open: string, secure: string): URL | Refusal {
    const url = this.resolve(open)
    if (url instanceof URL) return url
    const secureUrl = this.resolve(secure)
    return secureUrl instanceof URL ? secureUrl : url
  }

  #resolveTarget(text: string): URL | Refusal {
    const read = readTargetUrl(text)
    if ('code' in read) return read
    if (read instanceof URL) return this.#refuse(read) ?? read
    const service = this.#services.get(read.service)
    return service === undefined ? NO_SERVICE : buildServiceUrl(service, read)
  }

  #refuse(url: URL): Refusal | undefined {
    const { others, isLocal } = this.#rules
    const own = classifyHost(url.hostname, this.#classify)
    const listed = this.#findListedReach(url, own)
    if (listed === undefined && others === 'none') return refuseNotAllowed(NOT_ALLOWED)
    if (listed === undefined && others === 'loopback' && own !== 'loopback')
      return refuseNotAllowed(
        `${NOT_ALLOWED}: it has no list, so only this machine (localhost, 127.0.0.1) may be called`,
      )
    // A listed port of this machine opens no other port of it: a URL that is not listed gets what others get.
    const reach = listed ?? toUnlistedReach(this.#rules)
    if (own !== undefined && !reach.includes(own))
      return refuseNotAllowed('names an address that may not be called')
    const isSecure = url.protocol === 'https:' || url.protocol === 'grpcs:'
    if (listed !== undefined || isLocal || isSecure) return undefined
    return refuseNotAllowed('must be https: plain http only for listed origins')
  }

  /** Returns undefined if no rule lists the URL. */
  #findListedReach(url: URL, own: AddressClass | undefined): readonly AddressClass[] | undefined {
    if (this.#origins.some((rule) => matchesOrigin(rule, url))) return toListedReach(own)
    return this.#ranges.some((range) => matchesOrigin(range, url)) ? IN_RANGE : undefined
  }

  /** Returns the classes of addresses at which a host may be reached. An IPv6 address in `hostname` has no brackets. */
  #findReach(hostname: string, address: string): readonly AddressClass[] {
    const isListed =
      this.#rules.services.some((service) => service.hostname === hostname) ||
      this.#origins.some((rule) => matchesHost(rule, hostname))
    if (isListed) return toListedReach(classifyHost(hostname, this.#classify))
    // A host that a range lists is an address, and is reached at no address beyond that range.
    const isInRange = this.#ranges.some(
      (range) => matchesHost(range, hostname) && matchesHost(range, address),
    )
    return isInRange ? IN_RANGE : toUnlistedReach(this.#rules)
  }
}

function remember(urls: Set<string>, url: string): void {
  if (urls.size >= REMEMBERED_MAX) urls.clear()
  urls.add(copyText(url))
}

/** A listed name may lead to this machine only if the name itself says so; otherwise its name server is not believed. */
function toListedReach(own: AddressClass | undefined): readonly AddressClass[] {
  return own === 'loopback' ? LOOPBACK : LISTED
}

function toUnlistedReach({ others, isLocal }: TargetRules): readonly AddressClass[] {
  if (others === 'loopback') return LOOPBACK
  if (others === 'any') return isLocal ? ALL : LISTED
  return NONE
}

function refuseNotAllowed(message: string): Refusal {
  return { code: 'SAGA_TARGET_NOT_ALLOWED', message }
}
