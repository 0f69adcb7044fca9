const PACKAGE = /\/node_modules\//;
const LINE_UPDATE = /\/ink\/build\/line-update\.js$/;

/**
 * Which module of this folder an import of Ink or of its packages gets instead of what it names; null for that one. Ink
 * measures every text for every frame, a third of a frame's time, so widths are remembered; where it updates part of a line,
 * only sure widths count. The build bundles Ink so. Pinning Ink pins the version of what measures.
 */
export function redirectInkImport(
  specifier: string,
  importer: string | undefined,
): 'widths' | 'line-widths' | null {
  if (specifier !== 'string-width' || importer === undefined || !PACKAGE.test(importer)) return null;
  return LINE_UPDATE.test(importer) ? 'line-widths' : 'widths';
}
