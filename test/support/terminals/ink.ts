import { registerHooks } from 'node:module';
import { redirectInkImport } from '../../../tui/text/ink-imports.ts';

/** Makes Ink measure as in the built dashboard; call it before Ink is loaded. */
export function loadInkAsBuilt(): void {
  registerHooks({
    resolve(specifier, context, next) {
      const module = redirectInkImport(specifier, context.parentURL);
      return module === null
        ? next(specifier, context)
        : next(new URL(`../../../tui/text/${module}.js`, import.meta.url).href, context);
    },
  });
}
