/**
 * Loads Node's own SQLite and hides the one warning by which Node 22 calls it experimental, because a user of this
 * store can do nothing about it. Every other warning is shown, also a later one of the same type. The module is not
 * loaded by an `import`, because Node loads imports, and warns, before a line of the importing module runs.
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
