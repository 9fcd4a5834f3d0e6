// Preloaded into a child that must not outlive its parent: when the channel to the parent closes, stop as on SIGTERM.
// This is also how a child is asked to stop where there are no signals (Windows).
import { isMainThread } from 'node:worker_threads'

// It is undefined for a process that was given no channel.
if (isMainThread && process.connected !== undefined) {
  // Closed before this was loaded.
  if (!process.connected) process.exit(143)
  process.once('disconnect', () => {
    if (!process.emit('SIGTERM', 'SIGTERM')) process.exit(143)
  })
  process.channel.unref()
}
