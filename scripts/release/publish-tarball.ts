import { runNpm } from './run-npm.ts'

export interface PublishOptions {
  /** Then nothing is sent, and no credentials are needed. */
  readonly isDry: boolean
}

/** Answers what npm complains of, if anything. */
export function publishTarball(
  tarball: string,
  version: string,
  { isDry }: PublishOptions,
): string | undefined {
  // The registry shows from which commit and by which workflow a package was built.
  const more = isDry ? ['--dry-run', '--fetch-retries=0'] : ['--provenance']
  const { status, stdout, stderr } = runNpm([
    ...['publish', tarball, '--ignore-scripts', '--access', 'public', '--tag', distTag(version), ...more],
  ])
  return status === 0 ? undefined : `npm publish: ${`${stdout}${stderr}`.trim()}`
}

/** Chooses the tag so that `npm install NAME` gives the newest release, and never a prerelease. */
export function distTag(version: string): string {
  return version.includes('-') ? 'next' : 'latest'
}
