import type { EngineClient } from '../engine/index.ts';
import type { DashboardEnd, DashboardOptions } from './options.ts';
import { loadInkLean } from './text/lean-ink.ts';

export type { DashboardEnd, DashboardOptions } from './options.ts';

/**
 * Opens the dashboard and resolves when the person has left it. Rejects when there is nothing to show, or when it
 * failed; the terminal is restored in every case.
 */
export async function openDashboard(given: DashboardOptions): Promise<DashboardEnd> {
  // React's development build is several times slower, and it decides when it is loaded.
  process.env.NODE_ENV ??= 'production';
  const options = { ...given, connect: connectEarly(given.connect) };
  if (options.plain) return (await import('./plain/open-plain.ts')).openPlainDashboard(options);
  loadInkLean();
  return (await import('./open-screen.tsx')).openScreen(options);
}

/** The engine answers while the libraries load; whoever asks first gets that connection. */
function connectEarly(connect: DashboardOptions['connect']): DashboardOptions['connect'] {
  let early: Promise<EngineClient> | null = connect(true);
  // Asked for in a moment; until then nobody has seen the error.
  early.catch(() => undefined);
  return (start) => {
    const first = early;
    early = null;
    return first ?? connect(start);
  };
}
