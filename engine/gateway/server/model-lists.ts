import { setTimeout as delay } from 'node:timers/promises';
import type { GatewaySettings } from '../settings.ts';
import { probeModels } from './probe.ts';
import type { ProviderRouting } from './routing.ts';
import type { UpstreamClient } from './upstream.ts';

/** Reads the model lists of the providers: at their first use, periodically, and when a call needs a missing one. */
export interface ModelLists {
  /** Reads them now unless the providers are the same, and then as often as the settings say. */
  configure(settings: GatewaySettings, isSame: boolean): void;
  /** Waits a moment for a reading in progress, but not longer. */
  awaitLists(): Promise<void>;
  /** Does the same, and first starts a reading if a list is missing: its provider may be available now. */
  readLists(): Promise<void>;
  close(): void;
}

/** How long a run waits for the model lists of a gateway that has just started. */
const LISTS_MS = 2000;
/** Minimum delay between two list requests that calls trigger. */
const LOOK_AGAIN_MS = 5000;
/** Node's timers fire immediately beyond this value. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export function createModelLists({
  upstreams,
  routing,
  now,
}: {
  upstreams: UpstreamClient;
  routing: ProviderRouting;
  now(): number;
}): ModelLists {
  let timer: NodeJS.Timeout | null = null;
  let reading: Promise<void> = Promise.resolve();
  let isReading = false;
  let readAt = 0;

  function startReading(): void {
    isReading = true;
    reading = probeModels(upstreams, routing).finally(() => {
      isReading = false;
      readAt = now();
    });
  }

  function stopTimer(): void {
    if (timer !== null) clearInterval(timer);
    timer = null;
  }

  const awaitLists = (): Promise<void> => Promise.race([reading, delay(LISTS_MS, undefined, { ref: false })]);

  return {
    configure({ mode, probeIntervalSec }, isSame) {
      stopTimer();
      if (mode !== 'live') return;
      if (!isSame || probeIntervalSec > 0) startReading();
      if (probeIntervalSec === 0) return;
      // A list that takes longer than the pause is not requested twice at the same time.
      const readUnlessReading = (): void => {
        if (!isReading) startReading();
      };
      timer = setInterval(readUnlessReading, Math.min(probeIntervalSec * 1000, LONGEST_TIMER_MS));
    },
    awaitLists,
    readLists() {
      const isMissing = routing.providers().some(({ name }) => routing.healthOf(name).models === null);
      if (isMissing && !isReading && now() - readAt >= LOOK_AGAIN_MS) startReading();
      return awaitLists();
    },
    close: stopTimer,
  };
}
