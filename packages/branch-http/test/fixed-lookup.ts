import { isIP, type LookupFunction } from 'node:net'

type Answers = readonly string[] | (() => readonly string[])

/** Plays a name server that knows only these names. A function in place of addresses may answer otherwise each time. */
export function fixedLookup(names: Readonly<Record<string, Answers>>): LookupFunction {
  return function lookUp(hostname, options, callback) {
    const known = names[hostname]
    if (options.all !== true) throw new Error('not all addresses are asked for')
    if (known === undefined) {
      callback(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }), [])
      return
    }
    const addresses = typeof known === 'function' ? known() : known
    callback(
      null,
      addresses.map((address) => ({ address, family: isIP(address) })),
    )
  }
}
