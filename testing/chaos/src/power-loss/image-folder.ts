import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Image } from './disk.ts'

/** Reads the present content of a folder. */
export function readImage(root: string): Image {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true })
  const toPath = (entry: (typeof entries)[number]) => relative(root, join(entry.parentPath, entry.name))
  return {
    folders: entries.filter((entry) => entry.isDirectory()).map(toPath),
    files: new Map(
      entries
        .filter((entry) => entry.isFile())
        .map((entry) => [toPath(entry), readFileSync(join(root, toPath(entry)))]),
    ),
  }
}

/** Folders come before what is in them. */
export function writeImage(root: string, { folders, files }: Image): void {
  mkdirSync(root, { recursive: true })
  for (const folder of [...folders].sort()) mkdirSync(join(root, folder), { recursive: true })
  for (const [path, content] of files) writeFileSync(join(root, path), content)
}
