import { formatAge, formatClockTime } from '../../engine/core/base/text.ts';
import { isUntilAnswered } from '../../engine/index.ts';

/** Formats how long ago. Whole minutes, so that a quiet screen is not redrawn every second. */
export function formatTimeSince(at: string | null, now: number): string {
  if (at === null) return '-';
  const ms = now - Date.parse(at);
  return ms < 60_000 ? 'now' : ms < 100_000 ? '1m' : formatAge(at, now);
}

/** Formats how long a worker has printed nothing. */
export function formatQuietTime(at: string | null, now: number): string {
  if (at === null) return '-';
  const seconds = Math.max(0, Math.floor((now - Date.parse(at)) / 10_000) * 10);
  return seconds < 60 ? (seconds === 0 ? 'now' : `${seconds}s`) : formatTimeSince(at, now);
}

/** Formats the time left: whole minutes, then steps of ten seconds, so that the text seldom changes. */
export function formatTimeLeft(until: string, now: number): string {
  if (isUntilAnswered({ resume_at: until })) return '∞';
  const seconds = Math.floor((Date.parse(until) - now) / 1000);
  if (seconds <= 0) return '0s';
  if (seconds < 10) return '<10s';
  if (seconds < 60) return `${Math.floor(seconds / 10) * 10}s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 100 ? `${minutes}m` : `${Math.floor(minutes / 60)}h`;
}

export function formatSeconds(seconds: number): string {
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${minutes}m` : `${Math.round(minutes / 6) / 10}h`;
}

/** Formats how long until something resumes. The last minute is not counted down. */
export function formatWait(until: string, now: number): string {
  const minutes = Math.ceil((Date.parse(until) - now) / 60_000);
  if (minutes <= 1) return '<1m';
  if (minutes < 100) return `${minutes}m`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours}h` : `${Math.round(hours / 24)}d`;
}

/** Formats until when an agent is suspended. After that, single runs try it again. */
export const describeRetryTime = (reopenAt: string, now: number): string =>
  Date.parse(reopenAt) > now ? `until ${formatClockTime(reopenAt, now)}` : 'until one of its runs succeeds';
