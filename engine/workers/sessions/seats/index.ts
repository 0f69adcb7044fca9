export { instructionOperations } from './instructions.ts';
export { seatOperations } from './operations.ts';
export type { SeatSession } from './rows.ts';
export { createSeats, isPlainName, type NewSeat, type SeatRegistry } from './seats.ts';
