import { listExportTargets, type Manifest } from './manifest.ts'

/** Compiled sources, and the papers that belong to a package. */
const ALLOWED =
  /^(?:dist\/[a-z0-9/-]+\.(?:js|d\.ts)|package\.json|README\.md|LICENSE|CHANGELOG\.md)$/

const REQUIRED = ['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md']

/** One sentence for each file that is missing in a tarball, or that does not belong there. */
export function findTarballFaults(files: readonly string[], manifest: Manifest): string[] {
  const missing = [...listExportTargets(manifest), ...REQUIRED].filter((f) => !files.includes(f))
  const stray = files.filter((file) => !ALLOWED.test(file))
  return [
    ...missing.map((file) => `${file} is missing`),
    ...stray.map((file) => `${file} does not belong in the package`),
  ]
}
