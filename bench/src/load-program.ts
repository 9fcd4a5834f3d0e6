import { type Brought, type BroughtName, bringProgram } from '@counterstep/test-servers'

const brought = new Map<BroughtName, Promise<Brought>>()

/** Looked for once, however many scenarios ask: where it cannot be installed, to try takes a while. */
export function loadProgram(name: BroughtName): Promise<Brought> {
  const known = brought.get(name)
  if (known !== undefined) return known
  const found = bringProgram(name)
  brought.set(name, found)
  return found
}
