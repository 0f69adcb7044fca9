/** A day as sent. */
export interface ShownDay {
  day: string;
  /** True if it is over and can be sent. */
  isFinished: boolean;
  /** The exact bytes. */
  body: string;
  /** RFC 3339; null if it was not sent. */
  sentAt: string | null;
  /** Why the server refused it. */
  refusedWhy: string | null;
}

/** The figures for the linked server, and their state. */
export interface TelemetryView {
  /** `telemetry.work`. */
  work: 'off' | 'on' | 'auto';
  /** The reason that forbids it, linked or not: a setting, or the engine's environment; null for none. */
  prohibition: string | null;
  /** Why nothing is sent; null if it is. */
  obstacle: string | null;
  /** True if a person must review it first. */
  isWaiting: boolean;
  schema: number;
  /** The newest schema that a person has seen; 0 for none. */
  seenSchema: number;
  /** The next figures to send. */
  next: ShownDay[];
  /** The figures sent in the last thirty days. */
  sent: ShownDay[];
}
