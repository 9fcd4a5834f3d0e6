/**
 * Loads Node's own SQLite and hides the one warning by which Node 22 calls it experimental: it says nothing to a user of this
 * store, which has chosen it. Every other warning is shown, also a later one of the same type. The module is loaded here and not by an
 * `import`, because Node warns while it loads what a module imports, before a line of that module runs.
 */
export function loadNodeSqlite(): typeof import('node:sqlite') {
  const { emitWarning } = process
  process.emitWarning = (warning: string | Error, ...rest: unknown[]) => {
    if (!isSqliteWarning(warning, rest[0])) Reflect.apply(emitWarning, process, [warning, ...rest])
  }
  try {
    return process.getBuiltinModule('node:sqlite')
  } finally {
    process.emitWarning = emitWarning
  }
}

function isSqliteWarning(warning: string | Error, type: unknown): boolean {
  return type === 'ExperimentalWarning' && String(warning).startsWith('SQLite is an experimental feature')
}
