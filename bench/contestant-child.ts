/**
 * The process in which one contestant of one scenario is measured. It does what the bench tells it to,
 * one message after the other, and ends when the bench is gone.
 */
import { DOSES, type Dose, type Sample } from './scenario.ts'
import { loadScenario } from './scenario-list.ts'

export interface MeasureRequest {
  readonly caseName: string
  readonly durationMs: number
}

export type ChildMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'sample'; readonly sample: Sample }

const [scenarioName = '', contestantName = '', doseName = 'full'] = process.argv.slice(2)
const scenario = await loadScenario(scenarioName, DOSES[doseName as Dose['name']])
const open = scenario.contestants[contestantName]
if (open === undefined) throw new Error(`${scenarioName} has no contestant "${contestantName}"`)
const contestant = await open()

const send = (message: ChildMessage): void => {
  if (process.connected) process.send?.(message)
}

let measuring: Promise<void> = Promise.resolve()

async function answer({ caseName, durationMs }: MeasureRequest): Promise<void> {
  send({ kind: 'sample', sample: await contestant.measure(caseName, durationMs) })
}

/** After what is under way, so that nothing is pulled from under it and nothing is left behind. */
async function end(): Promise<void> {
  await measuring
  await contestant.close()
  process.exit()
}

process.on('message', (request: MeasureRequest) => {
  measuring = answer(request)
})
process.on('disconnect', () => void end())
// An interrupt at the keyboard reaches the bench too, whose end leads to an orderly one here.
process.on('SIGINT', () => {})
send({ kind: 'ready' })
