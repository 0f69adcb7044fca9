import type { EngineClient } from '../engine/index.ts';
import type { DashboardEnd, DashboardOptions } from './options.ts';
import { loadInkLean } from './text/lean-ink.ts';

export type { DashboardEnd, DashboardOptions } from './options.ts';

/**
 * Opens the dashboard and resolves when the person leaves it. Rejects if it cannot connect or fails. The terminal is
 * restored in every case.
 */
export async function openDashboard(given: DashboardOptions): Promise<DashboardEnd> {
  // React picks its build when it is loaded, and the development build is several times slower.
  process.env.NODE_ENV ??= 'production';
  const options = { ...given, connect: connectEarly(given.connect) };
  if (options.plain) return (await import('./plain/open-plain.ts')).openPlainDashboard(options);
  loadInkLean();
  return (await import('./open-screen.tsx')).openScreen(options);
}

/** Starts to connect while the libraries load. The first call of the returned function gets that connection. */
function connectEarly(connect: DashboardOptions['connect']): DashboardOptions['connect'] {
  let early: Promise<EngineClient> | null = connect(true);
  // The connection is awaited in a moment; until then a failure must not count as unhandled.
  early.catch(() => undefined);
  return (start) => {
    const first = early;
    early = null;
    return first ?? connect(start);
  };
}
