//! Conversions to and from other crates' vectors and quaternions, behind the features `glam` and `mint`.

#[cfg(any(feature = "glam", feature = "mint"))]
use crate::geometry::{Quat, Vec3};

#[cfg(feature = "glam")]
mod glam_conversions {
    use super::{Quat, Vec3};

    impl From<glam::DVec3> for Vec3 {
        fn from(v: glam::DVec3) -> Self {
            Self::new(v.x, v.y, v.z)
        }
    }

    impl From<Vec3> for glam::DVec3 {
        fn from(v: Vec3) -> Self {
            Self::new(v.x, v.y, v.z)
        }
    }

    impl From<glam::Vec3> for Vec3 {
        fn from(v: glam::Vec3) -> Self {
            Self::new(f64::from(v.x), f64::from(v.y), f64::from(v.z))
        }
    }

    impl From<Vec3> for glam::Vec3 {
        /// Rounds to single precision.
        fn from(v: Vec3) -> Self {
            Self::new(v.x as f32, v.y as f32, v.z as f32)
        }
    }

    impl From<glam::DQuat> for Quat {
        fn from(q: glam::DQuat) -> Self {
            Self::new(q.w, q.x, q.y, q.z)
        }
    }

    impl From<Quat> for glam::DQuat {
        fn from(q: Quat) -> Self {
            Self::from_xyzw(q.x, q.y, q.z, q.w)
        }
    }

    impl From<glam::Quat> for Quat {
        fn from(q: glam::Quat) -> Self {
            Self::new(f64::from(q.w), f64::from(q.x), f64::from(q.y), f64::from(q.z))
        }
    }

    impl From<Quat> for glam::Quat {
        /// Rounds to single precision.
        fn from(q: Quat) -> Self {
            Self::from_xyzw(q.x as f32, q.y as f32, q.z as f32, q.w as f32)
        }
    }
}

#[cfg(feature = "mint")]
mod mint_conversions {
    use super::{Quat, Vec3};

    impl From<mint::Vector3<f64>> for Vec3 {
        fn from(v: mint::Vector3<f64>) -> Self {
            Self::new(v.x, v.y, v.z)
        }
    }

    impl From<Vec3> for mint::Vector3<f64> {
        fn from(v: Vec3) -> Self {
            Self { x: v.x, y: v.y, z: v.z }
        }
    }

    impl From<mint::Point3<f64>> for Vec3 {
        fn from(p: mint::Point3<f64>) -> Self {
            Self::new(p.x, p.y, p.z)
        }
    }

    impl From<Vec3> for mint::Point3<f64> {
        fn from(v: Vec3) -> Self {
            Self { x: v.x, y: v.y, z: v.z }
        }
    }

    impl From<mint::Quaternion<f64>> for Quat {
        fn from(q: mint::Quaternion<f64>) -> Self {
            Self::new(q.s, q.v.x, q.v.y, q.v.z)
        }
    }

    impl From<Quat> for mint::Quaternion<f64> {
        fn from(q: Quat) -> Self {
            Self { s: q.w, v: mint::Vector3 { x: q.x, y: q.y, z: q.z } }
        }
    }
}

#[cfg(test)]
mod tests {
    #[cfg(feature = "glam")]
    #[test]
    fn glam_rotates_as_we_do() {
        use crate::geometry::{Quat, Vec3};
        let (q, v) = (Quat::from_rotation_vector(Vec3::new(0.3, -1.0, 2.0)), Vec3::new(1.0, 2.0, 3.0));
        let theirs = glam::DQuat::from(q) * glam::DVec3::from(v);
        assert!(Vec3::from(theirs).distance(q.rotate(v)) < 1e-12);
        assert_eq!(Quat::from(glam::DQuat::from(q)), q);
        assert!(Vec3::from(glam::Vec3::from(v)).distance(v) < 1e-6);
    }

    #[cfg(feature = "mint")]
    #[test]
    fn mint_carries_the_same_numbers() {
        use crate::geometry::{Quat, Vec3};
        let (q, v) = (Quat::new(0.5, 0.1, 0.2, 0.3), Vec3::new(1.0, 2.0, 3.0));
        assert_eq!(Quat::from(mint::Quaternion::from(q)), q);
        assert_eq!(Vec3::from(mint::Vector3::from(v)), v);
        assert_eq!(Vec3::from(mint::Point3::from(v)), v);
    }
}
