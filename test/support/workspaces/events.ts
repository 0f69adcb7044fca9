import type { EngineClient } from '../../../engine/index.ts';

export interface SeenEvent {
  seq: number;
  kind: string;
  task_id: string | null;
  session_id: string | null;
  data: Record<string, unknown>;
}

/** Resolves with the first matching event, past or future. */
export function awaitEvent(
  client: EngineClient,
  fits: (event: SeenEvent) => boolean,
  after = 0,
): Promise<SeenEvent> {
  return new Promise((resolve, reject) => {
    void client.closed.then(() => reject(new Error('the engine ended while an event was awaited')));
    client
      .subscribe('events.subscribe', { after }, ({ params }) => {
        const event = params.event as SeenEvent;
        if (fits(event)) resolve(event);
      })
      .catch(reject);
  });
}
