const PACKAGE = /\/node_modules\//;
const LINE_UPDATE = /\/ink\/build\/line-update\.js$/;

/**
 * Returns the module of this folder that replaces an import of Ink or of its packages; null for the original. Ink
 * measures every text for every frame, a third of a frame's time, so widths are cached; for updates of part of a
 * line, only sure widths count. The build bundles Ink this way. Pinning Ink pins the version of what measures.
 */
export function redirectInkImport(
  specifier: string,
  importer: string | undefined,
): 'widths' | 'line-widths' | null {
  if (specifier !== 'string-width' || importer === undefined || !PACKAGE.test(importer)) return null;
  return LINE_UPDATE.test(importer) ? 'line-widths' : 'widths';
}
