import { isCode, type SourceTree, type Violation } from './source-tree.ts'

const FILES_REFUSED = /^(utils?|helpers?|common|shared|misc)$/
const FOLDERS_REFUSED = /^(classes|interfaces|types|enums|common|shared|utils?|helpers?)$/

/** A file is named for the thing it holds, a folder for a noun of the domain. */
export function checkNames(tree: SourceTree): Violation[] {
  return [...tree.keys()].filter(isCode).flatMap((path) => {
    const folders = path.split('/')
    const file = (folders.pop() ?? '').replace(/(\.test)?\.(tsx?|mjs)$/, '')
    return [
      ...(FILES_REFUSED.test(file) ? [{ rule: 'file-names', path, detail: `"${file}" names no thing` }] : []),
      ...folders
        .filter((folder) => FOLDERS_REFUSED.test(folder))
        .map((folder) => ({ rule: 'folder-names', path, detail: `"${folder}" is no noun of the domain` })),
    ]
  })
}
