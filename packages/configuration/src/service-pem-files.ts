import { readNamedFile } from './named-file.ts'
import type { Parsed } from './setting.ts'

/** The text of a PEM file by the name of a service. */
export type PemByService = ReadonlyMap<string, string>

/** Reads `bank=/etc/bank-ca.pem,ledger=/etc/ledger-ca.pem`. */
export function servicePemFiles(text: string): Parsed<PemByService> {
  const pems = new Map<string, string>()
  for (const [at, item] of text.split(',').entries()) {
    if (item.trim() === '') continue
    const [, name = '', path = ''] = /^([^=]*)=(.+)$/.exec(item.trim()) ?? []
    if (name === '') return { problem: `has an item ${at + 1} that must be NAME=FILE` }
    if (pems.has(name)) return { problem: `names ${name} twice` }
    const file = readNamedFile(path)
    if ('problem' in file) return { problem: `${file.problem}, for ${name}` }
    if (!file.value.includes('-----BEGIN ')) return { problem: `names a file without PEM, for ${name}` }
    pems.set(name, file.value)
  }
  return { value: pems }
}
