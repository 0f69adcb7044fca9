/** A day as it is sent. */
export interface ShownDay {
  day: string;
  /** Whether it is over, and can be sent. */
  isFinished: boolean;
  /** The very bytes. */
  body: string;
  /** RFC 3339; null for one that has not gone. */
  sentAt: string | null;
  /** Why the server has refused it. */
  refusedWhy: string | null;
}

/** What is counted for the linked server, and what becomes of it. */
export interface TelemetryView {
  /** `telemetry.work`. */
  work: 'off' | 'on' | 'auto';
  /** What forbids it, linked or not: a setting, or the engine's environment; null for nothing. */
  prohibition: string | null;
  /** Why nothing goes; null when it does. */
  obstacle: string | null;
  /** A person has to look first. */
  isWaiting: boolean;
  schema: number;
  /** The newest schema that a person has seen; 0 for none. */
  seenSchema: number;
  /** What goes next. */
  next: ShownDay[];
  /** What went in the last thirty days. */
  sent: ShownDay[];
}
