import { relative, sep } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { REPOSITORY } from '../repository/source-tree.ts'
import { LONG_FILES } from './long-files.ts'

/**
 * Starts the files that take long before all others. A fresh checkout has no memory of how long a file took, and vitest
 * then starts the largest first: a chaos run, which is twenty lines and takes minutes, would start last and end alone.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return longestFirst(await super.sort(files))
  }
}

/** Those of which nothing is known stay in their order. */
export function longestFirst<File extends { readonly moduleId: string }>(files: readonly File[]): File[] {
  return files.toSorted((a, b) => findPlace(a) - findPlace(b))
}

function findPlace({ moduleId }: { readonly moduleId: string }): number {
  const place = LONG_FILES.indexOf(relative(REPOSITORY, moduleId).replaceAll(sep, '/'))
  return place === -1 ? LONG_FILES.length : place
}
