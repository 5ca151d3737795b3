// What a step of Meow does, written plainly in C: a yardstick for the engine's speed. See port.py, which compiles it.
//
// The functions do what those of katz_env/games/meow/ do, mostly under the same names, so that all they write is the same byte
// by byte, and avoid the same branches. Bit sets are written 32 bits at a time. Known when this is compiled are the
// numbers that the engine's compiler knows too, from the sizes of the fields; the other options travel in the record.
// With -DWITHOUT_OBSERVATIONS no observations are written, for a measurement of the rest.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define N NUM_PLAYERS
#define CARDS (3 * RANKS)
#define DECK (3 * KEPT)
#define TILES (TRICKS * ROUNDS)
#define FIRST_TILE (ROUNDS * DECK)

enum { PLAYING, OVER };
enum { WIN, SCORE };
enum { BLUE, PINK, GREEN };
enum { BOWL, FISHBONE, FISH, VASE };
enum { NO_LIMIT = -127 };

#if RANKS < 32
typedef int32_t Cards;
#else
typedef int64_t Cards;
#endif

#if BONES < 16
typedef int16_t Bones;
#else
typedef int64_t Bones;
#endif

// The record of rules.py.
typedef struct {
    uint64_t rng;
    Cards hand[N][3], played[N][3], undealt[3];  // bit sets by colour
    Bones bones_left[N], bones_taken[N];         // bit sets: the higher the bit, the worse the fishbone
    int16_t score[N], vase_scores[VASES + 1], best;
    int8_t row_type[TRICKS], row_kind[TRICKS][4], row_value[TRICKS], row_gone[TRICKS], next_kind[4], next_value;
    int8_t to_come[KINDS], round_shown[ROUNDS], trick, expert, phase;
    int8_t won[N][KINDS], trick_colour[N][3], lacks[N][3], trick_rank[N];
    int8_t shown_score[N], gain[N], fish[N], vases[N], fish_gain[N], bone_limit[N], vase_gain[N];
    int8_t led, leader, played_count, round_index, first_seat, marker, turn;
    int8_t in_play[RANKS], tile_kind[KINDS], tile_value[KINDS], tile_count[KINDS], first_bone, first_fish;
    int8_t bone_place[KINDS], bone_value[BONES], last_card[N], deal[FIRST_TILE + TILES];
} Table;
_Static_assert(sizeof(Table) == RECORD_SIZE, "the record is not that of rules.py");

// The fields of observation.py.
typedef struct {
    int8_t hand[CARDS], trick_colour[N][3], trick_rank[N], lacks[N][3], led[3], leader[N], marker[N], turn[N];
    int8_t score[N], gain[N], won[N][KINDS], row_kind[TRICKS][4], row_value[TRICKS], row_gone[TRICKS];
    int8_t next_kind[4], next_value, to_come[KINDS], round[ROUNDS], trick, expert, over, played[N][CARDS];
} Observation;
_Static_assert(N * KINDS < 240, "the rows of `won` are longer than write_rotated can count");
_Static_assert(sizeof(Observation) == OBSERVATION_SIZE, "the observation is not that of observation.py");

static int min(int a, int b) { return a < b ? a : b; }
static int max(int a, int b) { return a > b ? a : b; }
static int next(int seat) { return seat + 1 < N ? seat + 1 : 0; }
static int shown(int number) { return max(-127, min(127, number)); }

// splitmix64
static inline int random_below(uint64_t *rng, int n) {
    uint64_t z = *rng += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    return (int)(((z >> 32) * (uint64_t)n) >> 32);
}

static void shuffle(Table *t, int8_t *cards, int size) {
    uint64_t rng = t->rng;
    for (int i = size - 1; i > 0; i--) {
        int j = random_below(&rng, i + 1);
        int8_t card = cards[i];
        cards[i] = cards[j];
        cards[j] = card;
    }
    t->rng = rng;
}

static void fill_deal(Table *t) {
    for (int k = 0; k < ROUNDS; k++) {
        int8_t *deck = &t->deal[k * DECK];
        for (int colour = 0; colour < 3; colour++) {
            for (int i = 0; i < KEPT - 1; i++) deck[KEPT * colour + i] = RANKS * colour + i;
            deck[KEPT * colour + KEPT - 1] = RANKS * colour + RANKS - 1;
        }
        shuffle(t, deck, DECK);
    }
    int8_t *tiles = &t->deal[FIRST_TILE], *tile = tiles;
    for (int kind = 0; kind < KINDS; kind++)
        for (int left = t->tile_count[kind]; left > 0; left--) *tile++ = kind;
    shuffle(t, tiles, TILES);
}

static int vase_step(const Table *t, int vases) { return t->vase_scores[min(vases + 1, VASES)] - t->vase_scores[vases]; }

static inline int lowest(int64_t bits) { return bits ? __builtin_ctzll(bits) : 0; }
static inline int highest(int64_t bits) { return bits ? 63 - __builtin_clzll(bits) : 0; }

// What a fish, a fishbone and a vase would do to the score of a seat: each fish takes the worst fishbone that is left.
static inline void note_tiles(Table *t, int seat) {
    int64_t left = t->bones_left[seat], taken = t->bones_taken[seat];
    int fish = t->fish[seat], limit = t->bone_value[lowest(taken)];
    t->fish_gain[seat] = left ? -t->bone_value[highest(left)] : 0;
    limit = __builtin_popcountll(taken) == fish ? limit : 0;
    t->bone_limit[seat] = fish ? limit : NO_LIMIT;
    t->vase_gain[seat] = shown(vase_step(t, t->vases[seat]));
}

static inline void start_trick(Table *t, int seat) {
    int over = t->trick == TRICKS, place = t->trick - over;
    t->leader = t->turn = seat;
    t->led = -1;
    t->played_count = 0;
    t->best = 0;
    memset(t->trick_colour, 0, sizeof t->trick_colour);
    memset(t->trick_rank, 0, sizeof t->trick_rank);
    for (int kind = 0; kind < 4; kind++) t->next_kind[kind] = over ? 0 : t->row_kind[place][kind];
    t->next_value = over ? 0 : t->row_value[place];
    int8_t value = t->next_value, bowl = -t->next_kind[BOWL], bone = -t->next_kind[FISHBONE];
    int8_t fish = -t->next_kind[FISH], vase = -t->next_kind[VASE];
    for (int other = 0; other < N; other++) {
        int8_t paid = t->bone_limit[other] > value ? t->bone_limit[other] : value;
        t->gain[other] = (bowl & value) | (bone & paid) | (fish & t->fish_gain[other]) | (vase & t->vase_gain[other]);
    }
}

static void open_round(Table *t) {
    memset(t->round_shown, 0, sizeof t->round_shown);
    t->round_shown[t->round_index] = 1;
    memset(t->played, 0, sizeof t->played);
    memset(t->lacks, 0, sizeof t->lacks);
    memset(t->row_kind, 0, sizeof t->row_kind);
    memset(t->row_gone, 0, sizeof t->row_gone);
    for (int k = 0; k < TRICKS; k++) {
        int kind = t->deal[FIRST_TILE + t->round_index * TRICKS + k];
        t->row_type[k] = kind;
        t->row_kind[k][t->tile_kind[kind]] = 1;
        t->row_value[k] = t->tile_value[kind];
        t->to_come[kind]--;
    }
    const int8_t *card = &t->deal[t->round_index * DECK];
    int64_t all = (((int64_t)1 << (KEPT - 1)) - 1) | (int64_t)1 << (RANKS - 1);
    for (int colour = 0; colour < 3; colour++) t->undealt[colour] = all;
    for (int seat = 0; seat < N; seat++) {
#if CARDS <= 64
        uint64_t cards = 0;
        for (int i = 0; i < TRICKS; i++) cards |= (uint64_t)1 << *card++;
        for (int colour = 0; colour < 3; colour++) t->hand[seat][colour] = cards >> RANKS * colour & (((uint64_t)1 << RANKS) - 1);
#else
        memset(t->hand[seat], 0, sizeof t->hand[seat]);
        for (int i = 0; i < TRICKS; i++, card++) t->hand[seat][*card / RANKS] |= (int64_t)1 << (*card % RANKS);
#endif
        for (int colour = 0; colour < 3; colour++) t->undealt[colour] &= ~t->hand[seat][colour];
    }
    t->trick = 0;
    t->marker = (t->first_seat + t->round_index) % N;
}

static void deal(Table *t) {
    memset(t->won, 0, sizeof t->won);
    memset(t->fish, 0, sizeof t->fish);
    memset(t->vases, 0, sizeof t->vases);
    memset(t->last_card, -1, sizeof t->last_card);
    memcpy(t->to_come, t->tile_count, sizeof t->to_come);
    memset(t->bones_left, 0, sizeof t->bones_left);
    memset(t->bones_taken, 0, sizeof t->bones_taken);
    for (int seat = 0; seat < N; seat++) {
        t->score[seat] = t->vase_scores[0];
        t->shown_score[seat] = shown(t->score[seat]);
        note_tiles(t, seat);
    }
    t->round_index = 0;
    t->phase = PLAYING;
    open_round(t);
    start_trick(t, t->marker);
}

static __attribute__((noinline, cold)) void deal_random(Table *t) {
    do {
        t->first_seat = random_below(&t->rng, N);
        fill_deal(t);
        deal(t);
    } while (t->phase == OVER);
}

// A card's strength has the seat in its lowest three bits, then the rank, then a bit for the colour led and one for trumps. So the
// highest of them wins, but the 1 if it lies beside the highest card of its colour.
static inline int trick_winner(const Table *t) {
    int winner = t->best & 7;
    if ((t->best >> 3 & 63) == RANKS) {
        int deciding = t->best >> 10 ? GREEN : t->led;
        for (int seat = 0; seat < N; seat++)
            if (t->trick_rank[seat] == 1 && t->trick_colour[seat][deciding]) winner = seat;
    }
    return winner;
}

// A fishbone may free a smaller one from a fish; a fish takes the worst one that counts. Masks stand in the place of branches.
static inline void take_tile(Table *t, int seat) {
    int kind = t->row_type[t->trick], vase = -t->next_kind[VASE];
    int64_t bone = -t->next_kind[FISHBONE], fish = -t->next_kind[FISH], left = t->bones_left[seat], taken = t->bones_taken[seat];
    taken |= bone & (int64_t)1 << (t->bone_place[kind] + t->won[seat][kind]);
    int64_t freed = taken & -taken & -(int64_t)(__builtin_popcountll(taken) > t->fish[seat]);
    left |= freed;
    int64_t caught = fish & left & (int64_t)1 << highest(left);
    t->bones_left[seat] = left ^ caught;
    t->bones_taken[seat] = (taken ^ freed) | caught;
    t->score[seat] += (t->gain[seat] & ~vase) | (vase_step(t, t->vases[seat]) & vase);
    t->shown_score[seat] = shown(t->score[seat]);
    t->won[seat][kind]++;
    t->fish[seat] -= fish;
    t->vases[seat] -= vase;
    note_tiles(t, seat);
}

static inline void end_trick(Table *t) {
    int leader = trick_winner(t);
    take_tile(t, leader);
    t->row_gone[t->trick++] = 1;
    if (t->trick == TRICKS) {
        if (t->round_index + 1 < ROUNDS) {
            t->round_index++;
            open_round(t);
            leader = t->marker;
        } else {
            t->phase = OVER;
        }
    }
    start_trick(t, leader);
}

// The legal cards of a seat, by colour: those of the colour led, or all if it has none. -1 stands for all bits.
static inline void legal_cards(const Table *t, int seat, int led, int64_t *legal) {
    const Cards *hand = t->hand[seat];
    int64_t any = -(int64_t)((led < 0) | !hand[max(0, led)]);
    for (int colour = 0; colour < 3; colour++) legal[colour] = hand[colour] & (any | -(int64_t)(colour == led));
}

// The same as one bit set, for at most 64 cards.
static inline uint64_t legal_set(const Table *t, int seat, int led) {
    const Cards *hand = t->hand[seat];
    uint64_t cards = hand[BLUE] | (uint64_t)hand[PINK] << RANKS % 64 | (uint64_t)hand[GREEN] << 2 * RANKS % 64;
    uint64_t following = led < 0 ? 0 : cards & (((uint64_t)1 << RANKS) - 1) << RANKS * led;
    return following ? following : cards;
}

// The only legal card of a seat, or -1 if it has a choice, or no card because the game is over.
static inline int forced_card(const Table *t, int seat, int led) {
    if (CARDS <= 64) {
        uint64_t legal = legal_set(t, seat, led);
        return __builtin_popcountll(legal) == 1 ? __builtin_ctzll(legal) : -1;
    }
    int64_t legal[3];
    legal_cards(t, seat, led, legal);
    if (__builtin_popcountll(legal[BLUE]) + __builtin_popcountll(legal[PINK]) + __builtin_popcountll(legal[GREEN]) != 1) return -1;
    return RANKS * (!!legal[PINK] + 2 * !!legal[GREEN]) + lowest(legal[BLUE] | legal[PINK] | legal[GREEN]);
}

// Plays a card, and then all that are forced.
static inline void play(Table *t, int card) {
    int seat = t->turn, led = t->led, best = t->best;
    do {
        int colour = card / RANKS, place = card - RANKS * colour;
        led = led < 0 ? colour : led;
        t->hand[seat][colour] ^= (int64_t)1 << place;
        t->played[seat][colour] |= (int64_t)1 << place;
        t->trick_colour[seat][colour] = 1;
        t->trick_rank[seat] = place + 1;
        t->last_card[seat] = card;
        t->led = led;
        t->lacks[seat][led] |= colour != led;
        t->played_count++;
        t->best = best = max(best, (colour == GREEN) << 10 | (colour == led) << 9 | (place + 1) << 3 | seat);
        seat = next(seat);
        if (seat != t->leader) {
            t->turn = seat;
        } else {
            end_trick(t);
            seat = t->turn;
            led = -1;
            best = 0;
        }
        card = forced_card(t, seat, led);
    } while (card >= 0);
}

typedef uint8_t Bytes __attribute__((vector_size(32)));
typedef uint8_t Block __attribute__((vector_size(16)));
typedef uint32_t Words __attribute__((vector_size(32)));

// Writes 32 bits as bytes: every byte gets the eight bits that hold its own, and keeps that one.
static inline void spread(uint32_t bits, int8_t *out) {
    Bytes all = (Bytes)((Words){} + bits);
    Bytes near = __builtin_shufflevector(all, all, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 18, 18, 18, 18, 18, 18, 18, 18,
                                         19, 19, 19, 19, 19, 19, 19, 19);
    const Bytes place = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    Bytes row = (Bytes)((near & place) == place) & 1;
    memcpy(out, &row, sizeof row);
}

static inline void write_bits(int64_t bits, int size, void *out) {
    if (size < 32) {
        for (int i = 0; i < size; i++) ((int8_t *)out)[i] = bits >> i & 1;
        return;
    }
    spread(bits, out);
    spread(bits >> (size - 32), (int8_t *)out + size - 32);
}

static inline void write_cards(int64_t blue, int64_t pink, int64_t green, void *out) {
    if (CARDS <= 64) {
        write_bits(blue | pink << RANKS % 64 | green << 2 * RANKS % 64, CARDS, out);
    } else {
        write_bits(blue, RANKS, out);
        write_bits(pink, RANKS, (int8_t *)out + RANKS);
        write_bits(green, RANKS, (int8_t *)out + 2 * RANKS);
    }
}

static void write_mask(const Table *t, bool *mask) {
    if (CARDS <= 64) {
        write_bits(legal_set(t, t->turn, t->led), CARDS, mask);
        return;
    }
    int64_t legal[3];
    legal_cards(t, t->turn, t->led, legal);
    write_cards(legal[BLUE], legal[PINK], legal[GREEN], mask);
}

static void write_outcome(const Table *t, int reward, float *rewards, int16_t *scores, int32_t *ranks) {
    int best = t->score[0], winners = 0;
    for (int seat = 0; seat < N; seat++) {
        scores[seat] = ranks[seat] = t->score[seat];
        best = max(best, t->score[seat]);
    }
    for (int seat = 0; seat < N; seat++) winners += ranks[seat] == best;
    for (int seat = 0; seat < N; seat++)
        rewards[seat] = reward == SCORE ? scores[seat] : (ranks[seat] == best ? 1.0 / winners : 0.0) - 1.0 / N;
}

// Writes a row of each seat, from that of the observer on, 16 bytes at a time: those from the observer's row to the last, then
// those before. It may read what is around `rows` in the record, and write up to 15 bytes too many, so the next fields come later.
static inline void write_rotated(const void *rows, int size, int observer, void *out) {
    const int8_t *first = (const int8_t *)rows + size * observer;
    const Block count = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    uint8_t length = N * size, left = length - size * observer;
    for (int k = 0; k < length; k += sizeof count) {
        Block here, before, behind = (Block)(count + (uint8_t)k < left);
        memcpy(&here, first + k, sizeof here);
        memcpy(&before, first + k - length, sizeof before);
        here = (here & behind) | (before & ~behind);
        memcpy((int8_t *)out + k, &here, sizeof here);
    }
}

static inline void write_one_hot(int seat, int observer, int8_t *out) {
    uint64_t word = (uint64_t)1 << 8 * (seat < observer ? seat + N - observer : seat - observer);
    memcpy(out, &word, N);
}

// What the seat to act sees; seats are counted from it.
static void write_observation(const Table *restrict t, Observation *restrict out) {
    int turn = t->turn;
    write_cards(t->hand[turn][BLUE], t->hand[turn][PINK], t->hand[turn][GREEN], out->hand);
    write_rotated(t->trick_colour, 3, turn, out->trick_colour);
    write_rotated(t->trick_rank, 1, turn, out->trick_rank);
    write_rotated(t->lacks, 3, turn, out->lacks);
    for (int colour = 0; colour < 3; colour++) out->led[colour] = colour == t->led;
    write_one_hot(t->leader, turn, out->leader);
    write_one_hot(t->marker, turn, out->marker);
    write_one_hot(turn, turn, out->turn);
    write_rotated(t->shown_score, 1, turn, out->score);
    write_rotated(t->gain, 1, turn, out->gain);
    write_rotated(t->won, KINDS, turn, out->won);
    memcpy(out->row_kind, t->row_kind, offsetof(Table, phase) - offsetof(Table, row_kind));  // to `expert`, in the same order
    out->over = t->phase == OVER;
    for (int i = 0, seat = turn; i < N; i++, seat = next(seat))
        write_cards(t->played[seat][BLUE], t->played[seat][PINK], t->played[seat][GREEN], out->played[i]);
}

// Lets the processor fetch what will soon be written, as the engine does.
static inline void prefetch(const void *start, int size) {
    for (int i = 0; i < size; i += 64) __builtin_prefetch((const char *)start + i, 1);
}

// Play actions[k] at table where[k]. Returns the first k whose action is illegal, with nothing changed, or -1.
int64_t step(Table *records, const int64_t *where, const int64_t *actions, int64_t count, int64_t num_actions, int reward,
             Observation *observations, bool *masks, int8_t *turn, float (*rewards)[N], bool *terminated, int16_t (*scores)[N],
             int32_t (*ranks)[N], Table *final_records) {
    for (int64_t k = 0; k < count; k++) {
        const Table *t = &records[where[k]];
        bool legal = actions[k] >= 0 && actions[k] < num_actions && masks[where[k] * num_actions + actions[k]];
        if (!legal && t->phase != OVER) return k;
    }
    for (int64_t k = 0; k < count; k++) {
        int64_t i = where[k];
        Table *t = &records[i];
        prefetch(&records[where[k + 3 < count ? k + 3 : count - 1]], sizeof(Table));
        prefetch(&masks[where[k + 8 < count ? k + 8 : count - 1] * num_actions], CARDS);
        if (terminated[i]) {
            terminated[i] = false;
            memset(rewards[i], 0, sizeof rewards[i]);
            memset(scores[i], 0, sizeof scores[i]);
        }
        if (t->phase != OVER) {
            play(t, actions[k]);
            if (t->phase == OVER) {
                terminated[i] = true;
                write_outcome(t, reward, rewards[i], scores[i], ranks[i]);
                final_records[i] = *t;
            }
        }
        if (t->phase == OVER) deal_random(t);
        write_mask(t, &masks[i * num_actions]);
#ifndef WITHOUT_OBSERVATIONS
        write_observation(t, &observations[i]);
#endif
        turn[i] = t->turn;
    }
    return -1;
}
