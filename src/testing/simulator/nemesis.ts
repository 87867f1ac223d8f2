import type { HistoryRecorder } from '../history-recorder.ts'
import type { Random } from '../random.ts'
import type { VirtualClock } from '../virtual-clock.ts'
import type { DiskTrouble } from './disk-trouble.ts'
import type { EngineHost } from './engine-host.ts'
import type { FaultKind } from './fault-kinds.ts'
import type { FaultLog } from './fault-log.ts'
import type { SimulatedClient } from './network/simulated-client.ts'
import type { Trace } from './trace.ts'

export interface NemesisOptions {
  readonly clock: VirtualClock
  readonly random: Random
  readonly faults: ReadonlySet<FaultKind>
  readonly gapMs: number
  readonly clients: readonly SimulatedClient[]
  readonly host: EngineHost
  readonly disk: DiskTrouble
  readonly recorder: HistoryRecorder
  readonly log: FaultLog
  readonly trace: Trace
}

type Deed = () => void

/** Does, at moments of its own choosing, what the seed allows it to do. */
export class Nemesis {
  readonly #options: NemesisOptions
  readonly #deeds: readonly (readonly [FaultKind, number])[]
  #isOver = false

  constructor(options: NemesisOptions) {
    this.#options = options
    const { faults, random } = options
    const kinds = Object.keys(this.#all()) as FaultKind[]
    this.#deeds = kinds.filter((kind) => faults.has(kind)).map((kind) => [kind, random.float()])
  }

  start(): void {
    const { faults, log } = this.#options
    // Clocks are off from the beginning.
    if (faults.has('clock-rate')) log.count('clock-rate')
    if (this.#deeds.length > 0) this.#wait()
  }

  stop(): void {
    this.#isOver = true
  }

  #wait(): void {
    const { clock, random, gapMs } = this.#options
    clock.setTimer(random.int(1, gapMs * 2), () => {
      if (this.#isOver) return
      this.#strike(random.weighted(this.#deeds))
      this.#wait()
    })
  }

  #strike(kind: FaultKind): void {
    const { trace, log } = this.#options
    const isOfDisk = kind.startsWith('disk-')
    trace.note('nemesis', kind)
    // What goes wrong on the disk is counted when it does.
    if (!isOfDisk) log.count(kind)
    this.#all()[kind]?.()
  }

  #all(): Readonly<Partial<Record<FaultKind, Deed>>> {
    return { ...this.#ofClients(), ...this.#ofEngine() }
  }

  #ofClients(): Readonly<Partial<Record<FaultKind, Deed>>> {
    const { random, clients, clock, recorder } = this.#options
    const anyone = (): SimulatedClient => random.pick(clients)
    return {
      disconnect: () => {
        const client = anyone()
        recorder.mark('cut', { detail: client.name })
        client.cut(random.pick([0, random.int(1, 2_000)]))
      },
      'half-open': () => {
        anyone().silence(random.pick(['toEngine', 'toClient']), random.int(100, 2_000))
      },
      partition: () => {
        recorder.mark('partition')
        for (const client of random.shuffle(clients)) {
          clock.setTimer(random.int(0, 200), () => client.cut(random.int(1, 2_000)))
        }
      },
      pause: () => {
        const client = anyone()
        recorder.mark('pause', { detail: client.name })
        client.pause(random.pick([random.int(1, 300), random.int(300, 4_000)]))
      },
      'client-crash': () => {
        const client = anyone()
        recorder.mark('client-crash', { detail: client.name })
        client.crash(random.int(1, 1_000))
      },
      'wall-jump': () => clock.jumpWall(random.int(-3_600_000, 3_600_000)),
    }
  }

  #ofEngine(): Readonly<Partial<Record<FaultKind, Deed>>> {
    const { random, host, disk } = this.#options
    return {
      'engine-pause': () => host.pause(random.int(1, 1_500)),
      'power-loss': () => host.crash('power', this.#downMs()),
      kill: () => host.crash('kill', this.#downMs()),
      restart: () => void host.restart(this.#downMs()),
      'disk-crash': () => disk.arm('disk-crash'),
      'disk-full': () => disk.arm('disk-full'),
      'disk-error': () => disk.arm('disk-error'),
      'slow-sync': () => disk.slow(random.int(50, 1_500)),
    }
  }

  #downMs(): number {
    const { random } = this.#options
    return random.pick([0, random.int(1, 100), random.int(100, 1_500)])
  }
}
