import { decide } from '../../src/law/decide.ts'
import { altering, blindTo, mistaking, without } from './law-surgery.ts'
import { lawMutant, type Mutant } from './mutant.ts'

/** Wrong about what was done, who uses it, and what may run beside what. */
export const OPERATION_MUTANTS: readonly Mutant[] = [
  lawMutant(
    {
      name: 'skip-after-failure',
      fault: 'a pull that failed is remembered as done, and the others skip what is not there',
      killedBy: 'skip: a failure is not skipped',
    },
    mistaking('finish', (command) => ({ ...command, success: true })),
  ),
  lawMutant(
    {
      name: 'skip-survives-delete',
      fault: 'a pull is skipped although what it left has been deleted',
      killedBy: 'skip: what was deleted is not skipped',
    },
    altering(['finish'], ({ changes }) => ({ changes: without(changes, 'success-forgotten') })),
  ),
  lawMutant(
    {
      name: 'skip-beside-delete',
      fault: 'a pull is skipped while the delete of what it would use is running',
      killedBy: 'skip: while a delete runs, a pull waits for it',
    },
    blindTo(['begin'], ({ writer }) =>
      writer?.operation?.type === 'delete' ? { writer: undefined } : {},
    ),
  ),
  lawMutant(
    {
      name: 'skip-for-ever',
      fault: 'the memory of a success never ends',
      killedBy: 'skip: a success is remembered as long as the settings say',
    },
    altering(['finish'], ({ changes }) => ({
      changes: changes.map((change) =>
        change.kind === 'success-remembered'
          ? { ...change, remembered: { ...change.remembered, untilMs: Infinity } }
          : change,
      ),
    })),
  ),
  lawMutant(
    {
      name: 'different-version-skipped',
      fault: 'an update to another version is skipped in silence',
      killedBy: 'skip: another version is not skipped',
    },
    mistaking('begin', (command) => ({ ...command, version: undefined })),
  ),
  lawMutant(
    {
      name: 'any-version-skipped',
      fault: 'an update to a version is skipped because of an update without one',
      killedBy: 'skip: work with a version and work without one are not the same',
    },
    blindTo(['begin'], (view, { version }) => ({
      remembered: (type) => {
        const done = view.remembered(type)
        const isSkipped =
          done !== undefined && (done.version ?? version) === (version ?? done.version)
        return isSkipped ? { ...done, version } : done
      },
    })),
  ),
  lawMutant(
    {
      name: 'value-lost',
      fault: 'those who skip are not told what the work left',
      killedBy: 'skip: work that was done is skipped, with the value it left',
    },
    mistaking('finish', (command) => ({ ...command, value: undefined })),
  ),
  lawMutant(
    {
      name: 'waiters-not-skipped',
      fault: 'after a success everyone in the queue does the work again',
      killedBy: 'skip: everyone that waits for the same work skips it',
    },
    mistaking('finish', (command) => ({ ...command, coordination: 'mutex' })),
  ),
  lawMutant(
    {
      name: 'delete-in-use',
      fault: 'a delete does not look who uses the resource',
      killedBy: 'references: a delete is refused while the resource is in use',
    },
    blindTo(['begin'], () => ({ referenceCount: 0 })),
  ),
  lawMutant(
    {
      name: 'delete-beside-pull',
      fault: 'a delete runs beside a pull of the same thing',
      killedBy: 'operations: a delete waits for a pull that runs and is refused when it succeeds',
    },
    blindTo(['begin'], (_, { type }) =>
      type === 'delete' ? { holdCount: 0, writer: undefined, queueLength: 0 } : {},
    ),
  ),
  lawMutant(
    {
      name: 'delete-decided-once',
      fault: 'a delete that waits is not asked again whether the resource is in use by then',
      killedBy: 'operations: a delete waits for a pull that runs and is refused when it succeeds',
    },
    () => (view, command, nowMs) => {
      const decision = decide(view, command, nowMs)
      if (command.kind !== 'finish' || command.type !== 'pull') return decision
      const withoutReference = decide(view, { ...command, success: false }, nowMs)
      const added = decision.changes.filter(({ kind }) => kind === 'reference-set')
      return { ...withoutReference, changes: [...withoutReference.changes, ...added] }
    },
  ),
  lawMutant(
    {
      name: 'unref-by-anyone',
      fault: 'a node that has no reference lowers the count of those that have',
      killedBy: 'references: dropping a reference that is not there changes nothing',
    },
    mistaking('unref', (command, view) => {
      const [other] = view.references()
      return view.reference(command.node)
        ? command
        : { ...command, node: other?.node ?? command.node }
    }),
  ),
  lawMutant(
    {
      name: 'skip-without-reference',
      fault: 'a node that skipped its pull is not counted, and what it uses is deleted',
      killedBy: 'references: a pull that is skipped is a reference',
    },
    altering(['begin', 'finish'], ({ changes }, { node, kind }) => ({
      changes: changes.filter(
        (change) =>
          change.kind !== 'reference-set' || (kind === 'finish' && change.reference.node === node),
      ),
    })),
  ),
  lawMutant(
    {
      name: 'unclaimed-reference-kept',
      fault: 'a node that died in the queue keeps its reference, and nothing is deleted any more',
      killedBy: 'references: a node that does not come for its skip loses its reference',
    },
    blindTo(['expire', 'begin'], () => ({ dueReferences: () => [] })),
  ),
  lawMutant(
    {
      name: 'claimed-reference-lost',
      fault: 'a node that came for its skip loses its reference, and what it uses is deleted',
      killedBy: 'references: a node that does not come for its skip loses its reference',
    },
    altering(['begin'], ({ changes }, { node }, view) =>
      view.reference(node) === undefined ? {} : { changes: without(changes, 'reference-set') },
    ),
  ),
  lawMutant(
    {
      name: 'told-reference-unclaimed',
      fault: 'a node that was told by its open request has to come for its reference all the same',
      killedBy: 'references: a node that does not come for its skip loses its reference',
    },
    () => (view, command, nowMs) => {
      const decision = decide(view, command, nowMs)
      if (command.kind !== 'finish') return decision
      const claimByMs = nowMs + view.settings.waiterPatienceMs
      const changes = decision.changes.map((change) =>
        change.kind === 'reference-set' && change.reference.node !== command.node
          ? { ...change, reference: { ...change.reference, claimByMs } }
          : change,
      )
      return { ...decision, changes }
    },
  ),
  lawMutant(
    {
      name: 'reference-before-success',
      fault: 'a pull counts as a reference when it begins, and its failure is forgotten',
      killedBy: 'references: a pull that fails or vanishes is no reference',
    },
    altering(['begin'], ({ changes, outcome }, { type, node }) => {
      if (type !== 'pull' || outcome.kind !== 'granted') return {}
      return {
        changes: [...changes, { kind: 'reference-set', reference: { node, claimByMs: null } }],
      }
    }),
  ),
  lawMutant(
    {
      name: 'finished-by-anyone',
      fault: 'an operation is finished by a node that does not run it',
      killedBy: 'operations: only the node that runs an operation can finish it',
    },
    mistaking('finish', (command, { writer }) => ({
      ...command,
      type: writer?.operation?.type ?? command.type,
      node: writer?.operation?.node ?? command.node,
    })),
  ),
  lawMutant(
    {
      name: 'node-waits-for-itself',
      fault: 'a node that asks again while it works stands in the queue behind itself',
      killedBy: 'operations: a node that asks again has the standing it had',
    },
    blindTo(['begin'], () => ({ hold: () => undefined })),
  ),
  lawMutant(
    {
      name: 'types-run-side-by-side',
      fault: 'operations of different types on one resource do not exclude each other',
      killedBy: 'operations: one resource runs one operation, whatever its type',
    },
    blindTo(['begin'], ({ writer }, { type }) =>
      writer?.operation !== undefined && writer.operation.type !== type
        ? { holdCount: 0, writer: undefined, queueLength: 0 }
        : {},
    ),
  ),
  lawMutant(
    {
      name: 'failed-node-locked-out',
      fault: 'a node that failed once is answered so for ever',
      killedBy: 'operations: a node that failed may try again',
    },
    mistaking('begin', (command) => ({ ...command, requestId: `${command.node} once` })),
  ),
  lawMutant(
    {
      name: 'single-node-queues',
      fault: 'where only one node may work, the others are queued all the same',
      killedBy: 'operations: where several nodes may not work, a busy resource is refused',
    },
    blindTo(['begin'], ({ settings }) => ({ settings: { ...settings, multiNode: true } })),
  ),
  lawMutant(
    {
      name: 'update-in-use',
      fault: 'an update does not look who uses the resource where it must',
      killedBy: 'references: where updates need it, an update is refused while in use',
    },
    blindTo(['begin'], ({ settings }) => ({
      settings: { ...settings, updateRequiresNoRef: false },
    })),
  ),
  lawMutant(
    {
      name: 'references-without-limit',
      fault: 'every node that ever asks is kept for ever',
      killedBy: 'limits and bad input: a resource is kept for as many nodes as the settings say',
    },
    blindTo(['begin', 'finish'], ({ settings }) => ({
      settings: { ...settings, referencesPerResourceMax: Infinity },
    })),
  ),
  lawMutant(
    {
      name: 'kinds-mixed-up',
      fault: 'who waits is answered as the one wants it that runs, and a mutex is skipped',
      killedBy: 'coordination: a success answers only those of its own kind; the others move up',
    },
    mistaking('begin', (command, { writer }) => ({
      ...command,
      coordination: writer?.operation?.coordination ?? command.coordination,
    })),
  ),
  lawMutant(
    {
      name: 'client-delete-in-use',
      fault: 'who coordinates by itself deletes what others have been counted for',
      killedBy: 'coordination: whoever coordinates a delete, it spares what is in use',
    },
    blindTo(['begin'], (_, { coordination }) =>
      coordination === 'client' ? { referenceCount: 0 } : {},
    ),
  ),
  lawMutant(
    {
      name: 'client-queue-goes-on',
      fault: 'a success that everybody is told of still hands the lock to the next',
      killedBy: 'coordination: among clients a success dissolves the queue of its type',
    },
    mistaking('finish', (command) => ({ ...command, coordination: 'mutex' })),
  ),
]
