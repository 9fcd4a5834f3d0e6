// The load: one job at a time, each asked for and answered over the channel to the harness.
import { type GrpcLoadJob, isGrpcJob } from '../load/grpc-load-job.ts'
import type { LoadJob } from '../load/load-job.ts'
import { runGrpcLoad } from '../load/run-grpc-load.ts'
import { runLoad } from '../load/run-load.ts'

process.on('message', (job: LoadJob | GrpcLoadJob) => {
  void (isGrpcJob(job) ? runGrpcLoad(job) : runLoad(job)).then((result) => process.send?.(result))
})
// It listens nowhere: only the channel keeps it alive.
process.channel?.ref()
process.on('SIGTERM', () => process.exit(0))
