import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { LockEngine } from '../../src/engine/engine.ts'
import {
  type EmbeddedOptions,
  openFileEngine,
  openMemoryEngine,
  openStoredEngine,
} from '../../src/engines/embedded/embedded-engine.ts'
import type { Disk } from '../../src/engines/embedded/journal/disk.ts'
import type { EngineFixture } from '../../src/testing/engine-suite/engine-fixture.ts'
import { Random } from '../../src/testing/random.ts'
import { SimulatedDisk } from '../../src/testing/simulated-disk.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { EngineLives } from './engine-lives.ts'
import { histories } from './histories.ts'

export function createMemoryFixture(options: EmbeddedOptions = {}): EngineFixture {
  return {
    name: 'memory:',
    histories,
    open: async ({ settings } = {}) => {
      const clock = new VirtualClock()
      const engine = openMemoryEngine({ history: true, ...options, clock, settings })
      return { engine, clock, advance: (ms) => clock.advance(ms), close: () => engine.close() }
    },
  }
}

/** On the clock of this machine, where every statement about time is an inequality. */
export function createRealClockFixture(): EngineFixture {
  return {
    name: 'memory: on the real clock',
    realTime: { scale: 0.1, slackMs: 400 },
    open: async ({ settings } = {}) => {
      const engine = openMemoryEngine({ settings })
      return { engine, advance: (ms) => setTimeout(ms), close: () => engine.close() }
    },
  }
}

/** In a directory of the real file system, which a killed engine leaves as it is at that moment. */
export function createFileFixture(options: EmbeddedOptions = {}): EngineFixture {
  return {
    name: 'file:',
    histories,
    open: async ({ settings } = {}) => {
      const root = await mkdtemp(join(tmpdir(), 'holdfast-conformance-'))
      const killed: LockEngine[] = []
      let directory = join(root, 'data-0')
      const lives = new EngineLives((clock) =>
        openFileEngine(directory, { history: true, ...options, settings, clock }),
      )
      return {
        engine: await lives.begin(),
        clock: lives.clock,
        advance: (ms) => lives.advance(ms),
        reopen: () => lives.restart(),
        crash: async () => {
          const before = directory
          killed.push(lives.engine)
          directory = join(root, `data-${killed.length}`)
          const filter = (path: string): boolean => basename(path) !== 'owner'
          await cp(before, directory, { recursive: true, filter })
          return lives.begin()
        },
        close: async () => {
          for (const engine of killed) await engine.close()
          await lives.close()
          await rm(root, { recursive: true })
        },
      }
    },
  }
}

export interface PowerLossOptions extends EmbeddedOptions {
  /** Decides what survives of the data that was not synced. */
  readonly random?: Random
  /** What the engine gets to see of the disk. */
  readonly wire?: (disk: Disk) => Disk
}

/** On a simulated disk that loses power when the engine is killed, and what was not synced with it. */
export function createPowerLossFixture(options: PowerLossOptions = {}): EngineFixture {
  const { random = new Random('power'), wire = (disk) => disk, ...embedded } = options
  return {
    name: 'file: through a loss of power',
    histories,
    open: async ({ settings } = {}) => {
      const disk = new SimulatedDisk({ random })
      const lives = new EngineLives((clock) =>
        openStoredEngine(wire(disk.mount()), { history: true, ...embedded, settings, clock }),
      )
      return {
        engine: await lives.begin(),
        clock: lives.clock,
        advance: (ms) => lives.advance(ms),
        reopen: () => lives.restart(),
        crash: () => {
          disk.crash()
          return lives.begin()
        },
        close: () => lives.close(),
      }
    },
  }
}
