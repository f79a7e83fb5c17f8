//! Where straight lines meet circles and boxes, in the plane.

use evenkeel::Vec3;

/// How far along the line from one point to another, 0 to 1, it first touches a circle; nothing if it misses.
pub(crate) fn circle(from: Vec3, to: Vec3, centre: Vec3, radius: f64) -> Option<f64> {
    let (line, off) = (to - from, from - centre);
    let inside = off.x * off.x + off.y * off.y - radius * radius;
    if inside <= 0.0 {
        return Some(0.0);
    }
    let length_squared = line.x * line.x + line.y * line.y;
    let closing = -(off.x * line.x + off.y * line.y);
    let discriminant = closing * closing - length_squared * inside;
    if closing <= 0.0 || discriminant < 0.0 {
        return None;
    }
    let along = (closing - libm::sqrt(discriminant)) / length_squared;
    (along <= 1.0).then_some(along)
}

/// How far along the line from one point to another, 0 to 1, it enters the box between two corners; nothing if it misses.
pub(crate) fn block(from: Vec3, to: Vec3, low: Vec3, high: Vec3) -> Option<f64> {
    let (mut enter, mut leave) = (0.0f64, 1.0f64);
    for (start, end, low, high) in [(from.x, to.x, low.x, high.x), (from.y, to.y, low.y, high.y)] {
        let step = end - start;
        if step == 0.0 {
            if start <= low || start >= high {
                return None;
            }
            continue;
        }
        let (a, b) = ((low - start) / step, (high - start) / step);
        enter = enter.max(a.min(b));
        leave = leave.min(a.max(b));
    }
    (enter < leave).then_some(enter)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(x: f64, y: f64) -> Vec3 {
        Vec3::new(x, y, 0.0)
    }

    #[test]
    fn circles_are_touched_where_the_line_enters() {
        let hit = |to, centre| circle(at(0.0, 0.0), to, centre, 1.0);
        assert_eq!(hit(at(10.0, 0.0), at(5.0, 0.0)), Some(0.4));
        assert_eq!(hit(at(10.0, 0.0), at(5.0, 1.5)), None);
        assert_eq!(hit(at(10.0, 0.0), at(-5.0, 0.0)), None, "behind");
        assert_eq!(hit(at(3.0, 0.0), at(5.0, 0.0)), None, "too short");
        assert_eq!(hit(at(10.0, 0.0), at(0.5, 0.0)), Some(0.0), "from inside");
        assert_eq!(hit(at(0.0, 0.0), at(5.0, 0.0)), None, "a line without length");
    }

    #[test]
    fn boxes_are_entered_and_their_sides_are_not_inside() {
        let hit = |from, to| block(from, to, at(2.0, -1.0), at(4.0, 1.0));
        assert_eq!(hit(at(0.0, 0.0), at(8.0, 0.0)), Some(0.25));
        assert_eq!(hit(at(0.0, 1.0), at(8.0, 1.0)), None, "along a side");
        assert_eq!(hit(at(0.0, 0.0), at(1.0, 0.0)), None, "too short");
        assert_eq!(hit(at(3.0, 0.0), at(9.0, 0.0)), Some(0.0), "from inside");
        assert_eq!(hit(at(0.0, 0.0), at(4.0, 4.0)), None, "past a corner");
    }
}
