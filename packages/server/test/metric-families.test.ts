import { Counter, Histogram, Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { CountFamily } from '../src/metrics/count-family.ts'
import { DurationFamily } from '../src/metrics/duration-family.ts'

const name = 'seen'
const help = 'What was seen.'
const labelNames = ['method', 'route']

test('A family of durations is printed as prom-client prints the same histogram', async () => {
  const theirs = new Registry()
  const ours = new Registry()
  const buckets = [0.001, 0.01, 1]
  const histogram = new Histogram({ name, help, labelNames, buckets, registers: [theirs] })
  const family = new DurationFamily({ name, help, labelNames, buckets }, ours)
  const children = [family.makeChild('GET', '/a'), family.makeChild('POST', '/b"\\')]
  family.makeChild('PUT', '/never')
  for (const seconds of [0, 0.001, 0.0011, 0.5, 1, 1.5, 60]) {
    histogram.labels('GET', '/a').observe(seconds)
    children[0]?.observe(seconds)
  }
  histogram.labels('POST', '/b"\\').observe(0.25)
  children[1]?.observe(0.25)
  expect(await ours.metrics()).toBe(await theirs.metrics())
})

test('A family of counts is printed as prom-client prints the same counter', async () => {
  const theirs = new Registry()
  const ours = new Registry()
  const counter = new Counter({ name, help, labelNames, registers: [theirs] })
  const family = new CountFamily({ name, help, labelNames }, ours)
  const child = family.makeChild('GET', '/a')
  family.makeChild('PUT', '/never')
  for (let seen = 0; seen < 3; seen += 1) {
    counter.labels('GET', '/a').inc()
    child.increment()
  }
  expect(await ours.metrics()).toBe(await theirs.metrics())
})
